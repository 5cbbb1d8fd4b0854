"""How the errors of a legacy child reach a modern host: translation B.8."""

import pytest

from conversation import OPENED, meta, opened, play

clause = pytest.mark.clause


def failed(
    params: str, error: str, expected: str, method: str = "tools/call", meta: str = "$META"
) -> str:
    """A request that the child answers with `error`, and what the host gets."""
    return f"""
host  > {{"id":"r","method":"{method}","params":{{{params},{meta}}}}}
child < {{"id":1,"method":"{method}","params":{{{params}}}}}
child > {{"id":1,"error":{error}}}
host  < {{"id":"r","error":{expected}}}
"""


CALL = '"name":"t"'
READ = '"uri":"x:y"'


@clause("S-07", "S-08", "S-09", "S-13", "S-17")
@pytest.mark.parametrize(
    "error",
    [
        '{"code":-32601,"message":"no"}',
        '{"code":-32602,"message":"no","data":{"a":[1.50]}}',
        '{"code":-32603,"message":""}',
        '{"code":-32700,"message":"no","data":null}',
        '{"code":-32000,"message":"server says","data":"text"}',
        '{"code":-32019,"message":"no"}',
        '{"code":-32768,"message":"no"}',
        '{"code":-32100,"message":"no"}',
        '{"code":0,"message":"Request cancelled"}',
        '{"code":-1,"message":"no"}',
        '{"code":404,"message":"no","later":{"member":1}}',
    ],
)
def test_an_error_passes_as_it_came(error: str) -> None:
    play(OPENED, failed(CALL, error, error))


@clause("S-16", "S-107")
@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ("", ',"data":{"uri":"x:y"}'),
        (',"data":{"uri":"other:uri"}', ',"data":{"uri":"other:uri"}'),
        (',"data":{"a":1}', ',"data":{"a":1,"uri":"x:y"}'),
        (',"data":"text"', ',"data":"text"'),
    ],
)
def test_a_resource_that_is_not_found_is_an_invalid_param(data: str, expected: str) -> None:
    play(
        OPENED,
        failed(
            READ,
            f'{{"code":-32002,"message":"gone"{data}}}',
            f'{{"code":-32602,"message":"gone"{expected}}}',
            "resources/read",
        ),
    )


@clause("S-16")
def test_the_old_code_for_it_is_wrapped_anywhere_else() -> None:
    play(
        OPENED,
        failed(
            CALL,
            '{"code":-32002,"message":"gone","data":[1]}',
            '{"code":-32603,"message":"gone","data":{"code":-32002,"data":[1]}}',
        ),
    )


@clause("S-11", "S-14", "S-15")
@pytest.mark.parametrize("code", [-32020, -32021, -32022, -32023, -32041, -32050, -32099])
def test_a_reserved_code_of_the_child_is_wrapped(code: int) -> None:
    play(
        OPENED,
        failed(
            CALL,
            f'{{"code":{code},"message":"mine"}}',
            f'{{"code":-32603,"message":"mine","data":{{"code":{code}}}}}',
        ),
    )


@clause("S-38", "S-16")
def test_a_capability_that_the_request_lacks_is_named_as_the_child_named_it() -> None:
    """A bridge in the child's place passes it on from a modern server."""
    error = (
        '{"code":-32021,"message":"no","data":{"requiredCapabilities":{"sampling":{"tools":{}}},'
        '"more":1.50}}'
    )
    capabilities = '{"sampling":{}}'
    play(opened(capabilities), failed(CALL, error, error, meta=meta(capabilities)))


@clause("S-15", "S-16")
@pytest.mark.parametrize(
    "data",
    [
        '{"requiredCapabilities":{"sampling":{}}}',
        '{"requiredCapabilities":{}}',
        '{"requiredCapabilities":["roots"]}',
        '{"requiredCapabilities":{"roots":true}}',
        '{"missing":"roots"}',
        '"text"',
    ],
    ids=["declared", "nothing", "list", "no object", "no such member", "text"],
)
def test_that_code_is_wrapped_if_the_request_lacks_nothing(data: str) -> None:
    capabilities = '{"sampling":{}}'
    play(
        opened(capabilities),
        failed(
            CALL,
            f'{{"code":-32021,"message":"mine","data":{data}}}',
            f'{{"code":-32603,"message":"mine","data":{{"code":-32021,"data":{data}}}}}',
            meta=meta(capabilities),
        ),
    )


@clause("S-38", "S-16")
@pytest.mark.parametrize(
    "capabilities", ["{}", '{"elicitation":{}}', '{"elicitation":{"form":{}}}']
)
@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tools/call", CALL),
        ("prompts/get", CALL),
        ("resources/read", READ),
    ],
)
def test_a_url_that_must_be_visited_needs_the_capability(
    capabilities: str, method: str, params: str
) -> None:
    error = '{"code":-32042,"message":"visit","data":{"elicitations":[]}}'
    play(
        opened(capabilities),
        failed(
            params,
            error,
            '{"code":-32021,"message":"visit",'
            '"data":{"requiredCapabilities":{"elicitation":{"url":{}}}}}',
            method,
            meta(capabilities),
        ),
    )


@clause("S-16")
@pytest.mark.parametrize("method", ["tools/list", "com.example/do"])
def test_on_any_other_method_that_code_is_wrapped(method: str) -> None:
    play(
        OPENED,
        f"""
host  > {{"id":1,"method":"{method}","params":{{$META}}}}
child < {{"id":1,"method":"{method}"}}
child > {{"id":1,"error":{{"code":-32042,"message":"visit"}}}}
host  < {{"id":1,"error":{{"code":-32603,"message":"visit","data":{{"code":-32042}}}}}}
""",
    )


@clause("S-08", "S-09")
@pytest.mark.parametrize(
    "error",
    [
        '"text"',
        "null",
        "[]",
        "{}",
        '{"code":1.5,"message":"m"}',
        '{"code":"1","message":"m"}',
        '{"code":1}',
        '{"code":1,"message":null}',
        '{"message":"m"}',
    ],
)
def test_an_error_that_is_none_is_an_error_of_ours(error: str) -> None:
    play(
        OPENED,
        failed(
            CALL,
            error,
            '{"code":-32603,"message":"The server returned an invalid error","data":'
            f'{{"source":"mcp-bridge","reason":"invalid_error","error":{error}}}}}',
        ),
    )
