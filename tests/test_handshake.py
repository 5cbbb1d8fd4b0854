"""The session that is opened with a legacy child: translation B.2, E.2."""

import json

import pytest
from msgspec import Raw

from conversation import MACROS, play
from mcp_era_legacy.handshake import (
    client_capabilities,
    of_use,
    read_initialize_request,
)

clause = pytest.mark.clause


@clause("S-37", "S-66")
@pytest.mark.parametrize(
    ("modern", "legacy"),
    [
        ("{}", "{}"),
        ('{"roots":{}}', '{"roots":{"listChanged":true}}'),
        ('{"sampling":{"context":{},"tools":{}}}', '{"sampling":{"context":{},"tools":{}}}'),
        ('{"elicitation":{}}', '{"elicitation":{}}'),
        ('{"elicitation":{"form":{},"url":{}}}', '{"elicitation":{"form":{},"url":{}}}'),
        ('{"experimental":{"x":{"n":1.50}}}', '{"experimental":{"x":{"n":1.50}}}'),
        ('{"tasks":{"list":{}}}', "{}"),
        (
            '{"extensions":{"io.modelcontextprotocol/tasks":{},"com.example/x":{"a":1}}}',
            '{"extensions":{"com.example/x":{"a":1}}}',
        ),
        ('{"com.example/later":[1]}', '{"com.example/later":[1]}'),
    ],
)
def test_capabilities_are_declared_as_a_legacy_client_does(modern: str, legacy: str) -> None:
    assert json.loads(client_capabilities(Raw(modern.encode()))) == json.loads(legacy)


def test_roots_of_the_command_line_are_declared_whatever_the_host_declares() -> None:
    declared = client_capabilities(Raw(b'{"sampling":{}}'), roots=True)
    assert json.loads(declared) == {"sampling": {}, "roots": {"listChanged": True}}


ALL = {"roots", "sampling", "sampling.tools", "elicitation", "elicitation.url"}


@pytest.mark.parametrize(
    ("version", "useless"),
    [
        ("2024-11-05", {"sampling.tools", "elicitation", "elicitation.url"}),
        ("2025-03-26", {"sampling.tools", "elicitation", "elicitation.url"}),
        ("2025-06-18", {"sampling.tools", "elicitation.url"}),
        ("2025-11-25", set[str]()),
    ],
)
def test_the_negotiated_version_says_which_capabilities_let_a_server_ask(
    version: str, useless: set[str]
) -> None:
    others = {
        "tasks",
        "tasks.list",
        "extensions",
        "extensions.x",
        "experimental.x",
        "com.example/x",
    }
    assert of_use(frozenset(ALL | others), version) == ALL - useless


@pytest.mark.parametrize("info", ["", '"io.modelcontextprotocol/clientInfo":{"name":1},'])
def test_a_host_that_does_not_say_who_it_is_is_introduced_as_the_bridge(info: str) -> None:
    meta = MACROS["$META"].replace(
        '"io.modelcontextprotocol/clientInfo":{"name":"host","version":"2"},', info
    )
    play(
        f"""
host  > {{"id":1,"method":"tools/list","params":{{{meta}}}}}
child < {{"id":$PROBE,"method":"server/discover","params":{{"_meta":{{
         "io.modelcontextprotocol/protocolVersion":"2026-07-28",
         "io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}
child > {{"id":$PROBE,"error":{{"code":-32601,"message":"?"}}}}
child < {{"id":$HELLO,"method":"initialize","params":{{"protocolVersion":"2025-11-25",
         "capabilities":{{}},"clientInfo":{{"name":"bridge","version":"0"}}}}}}
"""
    )


@clause("C-13", "C-14")
@pytest.mark.parametrize(
    ("version", "legacy", "modern"),
    [
        ("2025-11-25", '{"roots":{"listChanged":true}}', '{"roots":{}}'),
        ("2025-11-25", '{"elicitation":{"url":{}}}', '{"elicitation":{"url":{}}}'),
        ("2025-06-18", '{"elicitation":{"url":{}}}', '{"elicitation":{}}'),
        ("2025-11-25", '{"sampling":{"tools":{}}}', '{"sampling":{"tools":{}}}'),
        ("2025-11-25", '{"tasks":{},"experimental":{"x":1}}', '{"experimental":{"x":1}}'),
        (
            "2025-11-25",
            '{"extensions":{"io.modelcontextprotocol/tasks":{},"a/b":{}}}',
            '{"extensions":{"a/b":{}}}',
        ),
        ("2025-11-25", "7", "{}"),
    ],
)
def test_a_legacy_host_is_introduced_to_a_modern_child_in_its_words(
    version: str, legacy: str, modern: str
) -> None:
    params = (
        f'{{"protocolVersion":"{version}","capabilities":{legacy},'
        '"clientInfo":{"name":"n","version":"v","title":"T"}}'
    )
    client = read_initialize_request(Raw(params.encode()))
    assert json.loads(bytes(client.capabilities)) == json.loads(modern)
    assert client.info is not None
    assert json.loads(bytes(client.info)) == {"name": "n", "version": "v", "title": "T"}


@pytest.mark.parametrize("params", ["", "{}", "7", '{"clientInfo":{"name":1}}'])
def test_a_legacy_host_that_says_nothing_is_introduced_without_a_name(params: str) -> None:
    client = read_initialize_request(Raw(params.encode()))
    assert client.info is None
    assert bytes(client.capabilities) == b"{}"
