"""How the errors of a modern server reach a legacy host: translation E.5."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from mcp_era_legacy.errors import error_for_host

URI = '"x:y"'


def told(error: str, method: str = "tools/call", uri: str | None = None) -> str:
    asked = Raw(uri.encode()) if uri is not None else None
    return bytes(error_for_host(method, asked, Raw(error.encode()))).decode()


@pytest.mark.parametrize(
    "error",
    [
        '{"code":-32601,"message":"no"}',
        '{"code":-32602,"message":"no","data":{"a":[1.50]}}',
        '{"code":-32603,"message":""}',
        '{"code":-32700,"message":"no","data":null}',
        '{"code":-32000,"message":"server says","data":"text"}',
        '{"code":-32002,"message":"mine"}',
        '{"code":-32042,"message":"mine"}',
        '{"code":-32021,"message":"no","data":{"requiredCapabilities":{"elicitation":{"url":{}}}}}',
        '{"code":-32099,"message":"no"}',
        '{"code":0,"message":"Request cancelled"}',
        '{"code":12345678901234567890123,"message":"no"}',
        '{ "code" : 404, "message":"no", "later":{"member":1e400}}',
    ],
)
@pytest.mark.parametrize("method", ["tools/call", "resources/read", "com.example/do"])
def test_an_error_passes_as_it_came(error: str, method: str) -> None:
    assert told(error, method, URI) == error


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        (
            '{"code":-32602,"message":"gone","data":{"uri":"x:y"}}',
            '{"code":-32002,"message":"gone","data":{"uri":"x:y"}}',
        ),
        (
            '{"data":{"a":1.50,"uri":"x\\u003ay"},"later":1e400,"message":"\\u0067","code":-32602}',
            '{"data":{"a":1.50,"uri":"x\\u003ay"},"later":1e400,"message":"\\u0067","code":-32002}',
        ),
    ],
)
def test_a_resource_that_is_not_there_has_a_code_of_its_own(sent: str, expected: str) -> None:
    assert told(sent, "resources/read", URI) == expected


@pytest.mark.parametrize("code", [-32602])
@pytest.mark.parametrize(
    ("method", "uri", "data"),
    [
        ("resources/read", URI, ""),
        ("resources/read", URI, ',"data":{"uri":"other:uri"}'),
        ("resources/read", URI, ',"data":{"uri":null}'),
        ("resources/read", URI, ',"data":{"URI":"x:y"}'),
        ("resources/read", URI, ',"data":"x:y"'),
        ("resources/read", URI, ',"data":null'),
        ("resources/read", None, ',"data":{"uri":"x:y"}'),
        ("resources/read", "7", ',"data":{"uri":7}'),
        ("resources/read", "null", ',"data":{"uri":null}'),
        ("prompts/get", URI, ',"data":{"uri":"x:y"}'),
        ("tools/call", None, ',"data":{"uri":"x:y"}'),
    ],
)
def test_params_that_are_invalid_for_another_reason_stay_so(
    code: int, method: str, uri: str | None, data: str
) -> None:
    error = f'{{"code":{code},"message":"no"{data}}}'
    assert told(error, method, uri) == error


@pytest.mark.parametrize("method", ["tools/call", "resources/read", "com.example/do"])
@pytest.mark.parametrize(
    ("data", "more"),
    [("", ""), (',"data":{"header":1.50}', ',"data":{"header":1.50}'), (',"data":null',) * 2],
)
def test_a_header_mismatch_says_nothing_where_there_are_no_headers(
    method: str, data: str, more: str
) -> None:
    assert (
        told(f'{{"code":-32020,"message":"odd"{data}}}', method, URI)
        == f'{{"code":-32603,"message":"odd","data":{{"code":-32020{more}}}}}'
    )


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
    assert told(error) == (
        '{"code":-32603,"message":"The server returned an invalid error","data":'
        f'{{"source":"mcp-bridge","reason":"invalid_error","error":{error}}}}}'
    )


@given(
    st.integers(-32800, -31900) | st.integers(), st.sampled_from(["resources/read", "tools/call"])
)
def test_an_error_that_was_told_is_told_the_same_way_again(code: int, method: str) -> None:
    once = told(f'{{"code":{code},"message":"m","data":{{"uri":"x:y"}}}}', method, URI)
    assert told(once, method, URI) == once
