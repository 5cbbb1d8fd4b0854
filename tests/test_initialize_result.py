"""How a legacy host is told what a modern server is: translation E.1."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_types.methods import validate_server_result
from msgspec import Raw

from mcp_era_legacy.initialize_result import agreed_version, initialize_result
from mcp_era_wire.versions import LEGACY_VERSIONS

OLDEST, COMPLETIONS, TITLES, NEWEST = LEGACY_VERSIONS
SERVER_INFO = '{"name":"new","version":"1"}'
IDENTITY = f'"io.modelcontextprotocol/serverInfo":{SERVER_INFO}'
FALLBACK = '{"name":"server.py","version":"unknown"}'

versions = pytest.mark.parametrize("version", LEGACY_VERSIONS)


def discovered(capabilities: str = "{}", more: str = "", meta: str = f"{{{IDENTITY}}}") -> str:
    return (
        '{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":'
        f'{capabilities}{more},"ttlMs":3600,"cacheScope":"public","_meta":{meta}}}'
    )


def told(discovered: str, version: str) -> str:
    """The InitializeResult, which is a good one whatever the server said."""
    result = initialize_result(Raw(discovered.encode()), version, "server.py").decode()
    validate_server_result("initialize", version, json.loads(result))
    assert (
        not {"resultType", "supportedVersions", "ttlMs", "cacheScope"} & json.loads(result).keys()
    )
    return result


def expected(
    version: str, capabilities: str = "{}", info: str = SERVER_INFO, more: str = ""
) -> str:
    return (
        f'{{"protocolVersion":"{version}","capabilities":{capabilities},"serverInfo":{info}{more}}}'
    )


@pytest.mark.parametrize("version", LEGACY_VERSIONS)
def test_a_version_that_we_speak_is_agreed_on(version: str) -> None:
    assert agreed_version(version) == version


@pytest.mark.parametrize(
    "requested", [None, "", "2026-07-28", "2025-11-26", "DRAFT-2026-v1", "1.0", "2024-10-07"]
)
def test_instead_of_any_other_the_newest_is_offered(requested: str | None) -> None:
    assert agreed_version(requested) == NEWEST


@versions
@pytest.mark.parametrize(
    ("modern", "legacy"),
    [
        ("{}", "{}"),
        ('{"tools":{"listChanged":true},"prompts":{}}',) * 2,
        ('{"resources":{"subscribe":true,"listChanged":false},"logging":{}}',) * 2,
        ('{"experimental":{"x":{"y":1.50}},"com.example/later":[1e400]}',) * 2,
        ('{"tools":{},"tasks":{"list":{}}}', '{"tools":{}}'),
        (
            '{"extensions":{"io.modelcontextprotocol/tasks":{},"com.example/x":{"a":1.0}}}',
            '{"extensions":{"com.example/x":{"a":1.0}}}',
        ),
        ('{"logging":true,"prompts":null,"tools":false}', '{"logging":{}}'),
        ('{"tools":[],"resources":"y","logging":5}', '{"tools":{},"resources":{},"logging":{}}'),
        ("null", "{}"),
        ("[]", "{}"),
        ('"tools"', "{}"),
    ],
)
def test_capabilities_are_those_of_the_server(version: str, modern: str, legacy: str) -> None:
    assert told(discovered(modern), version) == expected(version, legacy)


@versions
def test_the_first_revision_has_no_capability_for_completions(version: str) -> None:
    capabilities = '{"completions":{},"tools":{}}'
    legacy = '{"tools":{}}' if version < COMPLETIONS else capabilities
    assert told(discovered(capabilities), version) == expected(version, legacy)


@pytest.mark.parametrize(
    ("version", "kept"),
    [
        (OLDEST, '"later":1.50'),
        (COMPLETIONS, '"later":1.50'),
        (TITLES, '"title":"T","later":1.50'),
        (
            NEWEST,
            '"title":"T","description":"D","websiteUrl":"https://e.x","icons":[{"src":"data:"}],'
            '"later":1.50',
        ),
    ],
)
def test_the_identity_has_the_members_of_the_revision(version: str, kept: str) -> None:
    info = (
        '{"name":"n","version":"v","title":"T","description":"D","websiteUrl":"https://e.x",'
        '"icons":[{"src":"data:"}],"later":1.50}'
    )
    meta = f'{{"io.modelcontextprotocol/serverInfo":{info}}}'
    legacy = f'{{"name":"n","version":"v",{kept}}}'
    assert told(discovered(meta=meta), version) == expected(version, info=legacy)


@versions
@pytest.mark.parametrize(
    "info", ["null", "{}", '"new"', '{"name":"new"}', '{"name":"new","version":1}', "[]"]
)
def test_a_server_that_does_not_say_who_it_is_has_the_name_of_its_command(
    version: str, info: str
) -> None:
    meta = f'{{"io.modelcontextprotocol/serverInfo":{info}}}'
    body = f',"serverInfo":{info}'
    for said in (
        discovered(meta="{}"),
        discovered(meta=meta),
        discovered(meta="null", more=body),
        discovered(meta=meta, more=body),
    ):
        assert told(said, version) == expected(version, info=FALLBACK)


@versions
def test_an_identity_in_the_body_counts_if_there_is_no_better(version: str) -> None:
    body = ',"serverInfo":{"name":"draft","version":"0","icons":[]}'
    legacy = '{"name":"draft","version":"0"' + (',"icons":[]}' if version == NEWEST else "}")
    assert told(discovered(more=body, meta="{}"), version) == expected(version, info=legacy)
    assert told(discovered(more=body), version) == expected(version)


@versions
def test_the_rest_of_meta_and_unknown_members_pass(version: str) -> None:
    said = discovered(more=',"later":{"a":1e400}', meta=f'{{"a":1.50,{IDENTITY}}}')
    more = ',"later":{"a":1e400},"_meta":{"a":1.50}'
    assert told(said, version) == expected(version, more=more)


@versions
@pytest.mark.parametrize("instructions", ['"be \\"nice\\" \\u00e9"', '""'])
def test_instructions_stay_as_they_are(version: str, instructions: str) -> None:
    said = discovered(more=f',"instructions":{instructions}')
    assert told(said, version) == expected(version, more=f',"instructions":{instructions}')


@versions
@pytest.mark.parametrize("instructions", ["null", "7", '["a"]', "{}"])
def test_instructions_that_are_no_text_are_none(version: str, instructions: str) -> None:
    assert told(discovered(more=f',"instructions":{instructions}'), version) == expected(version)


@versions
def test_a_version_in_the_body_is_not_taken_over(version: str) -> None:
    said = discovered(more=',"protocolVersion":"2026-07-28"')
    assert told(said, version) == expected(version)


@versions
@pytest.mark.parametrize("said", ["{}", "null", "[]", "7"])
def test_of_a_server_that_says_nothing_nothing_is_told(version: str, said: str) -> None:
    assert told(said, version) == expected(version, info=FALLBACK)


junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["a", "\u00e9"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["name", "version", "tasks", "extensions", "x"]), inner, max_size=3
        )
    ),
    max_leaves=8,
)


@given(
    st.dictionaries(
        st.sampled_from(
            [
                *("_meta", "capabilities", "instructions", "serverInfo", "protocolVersion"),
                *("resultType", "ttlMs", "cacheScope", "supportedVersions", "later"),
            ]
        ),
        junk,
    ),
    st.sampled_from(LEGACY_VERSIONS),
)
def test_whatever_the_server_said_every_host_gets_what_it_must(
    said: dict[str, object], version: str
) -> None:
    result = json.loads(initialize_result(Raw(json.dumps(said).encode()), version, "server.py"))
    assert result["protocolVersion"] == version
    assert isinstance(result["capabilities"], dict)
    assert isinstance(result["serverInfo"]["name"], str)
    assert isinstance(result["serverInfo"]["version"], str)
    assert "tasks" not in result["capabilities"]
    assert result.get("later") == said.get("later")
