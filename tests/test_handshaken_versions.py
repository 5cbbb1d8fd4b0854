"""The four revisions of legacy hosts, each with a modern child: translation A.2, E.1, E.5, E.6."""

import pytest

from asking import ACCEPTED, SAMPLED
from conversation import meta, play
from handshakes import FIRST, INITIALIZED, again, answers, asked, done, opening, request, wants

clause = pytest.mark.clause

OLDEST, BATCHED, STRUCTURED, NEWEST = "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"
VERSIONS = [OLDEST, BATCHED, STRUCTURED, NEWEST]

ICONS = '"icons":[{"src":"https://i"}]'
OBJECT = '{"type":"object","properties":{"a":{"type":"string"}}}'


def joined(version: str) -> str:
    """A host of `version` that can be asked nothing."""
    return opening(version=version) + INITIALIZED


def exchange(method: str, params: str, sent: str, got: str) -> str:
    """One request, what the child answers and what the host gets of it."""
    return (
        request("1", FIRST, method, params)
        + f'child > {{"id":{FIRST},"result":{{"resultType":"complete",{sent}}}}}\n'
        + f'host  < {{"id":1,"result":{{{got}}}}}\n'
    )


# initialize -------------------------------------------------------------------------------------

WHO = '"name":"s","version":"1"'
LATER = {
    OLDEST: "",
    BATCHED: "",
    STRUCTURED: ',"title":"S"',
    NEWEST: f',"title":"S","description":"d","websiteUrl":"https://w",{ICONS}',
}


@clause("C-15")
@pytest.mark.parametrize("version", VERSIONS)
def test_initialize_is_answered_in_the_hosts_own_revision(version: str) -> None:
    offers = '"tools":{},"prompts":{},"resources":{"subscribe":true},"logging":{}'
    completions = "" if version == OLDEST else ',"completions":{}'
    begun, _, _ = opening(version=version).partition('child > {"id":$PROBE')
    play(
        begun,
        f"""
child > {{"id":$PROBE,"result":{{"resultType":"complete","supportedVersions":["2026-07-28"],
        "capabilities":{{{offers},"completions":{{}},"experimental":{{"x":{{}}}},
        "extensions":{{"a/b":{{}},"io.modelcontextprotocol/tasks":{{}}}}}},"instructions":"do",
        "ttlMs":9,"cacheScope":"public","_meta":{{"a/b":1,"io.modelcontextprotocol/serverInfo":
        {{{WHO}{LATER[NEWEST]}}}}}}}}}
host  < {{"id":0,"result":{{"protocolVersion":"{version}",
        "capabilities":{{{offers}{completions},"experimental":{{"x":{{}}}},
        "extensions":{{"a/b":{{}}}}}},"instructions":"do","_meta":{{"a/b":1}},
        "serverInfo":{{{WHO}{LATER[version]}}}}}}}
""",
        # What it calls itself later changes nothing.
        request("1", FIRST, "tools/list"),
        f"""
child > {{"id":{FIRST},"result":{{"tools":[],"_meta":{{"io.modelcontextprotocol/serverInfo":
        {{"name":"another","version":"2"}}}}}}}}
host  < {{"id":1,"result":{{"tools":[]}}}}
""",
    )


@pytest.mark.parametrize("asked_for", ["2024-10-07", "2026-07-28", "later", ""])
def test_a_revision_that_is_no_legacy_one_gets_the_newest_of_them(asked_for: str) -> None:
    head, tail = opening(version=asked_for).rsplit("host  < ", 1)
    play(head + "host  < " + tail.replace(f'"{asked_for}"', f'"{NEWEST}"'))


# Lists ------------------------------------------------------------------------------------------

TITLE = '"title":"A"'
ANNOTATED = '"annotations":{"readOnlyHint":true}'
PARTS = {
    OLDEST: "",
    BATCHED: f",{ANNOTATED}",
    STRUCTURED: f',{ANNOTATED},"title":"T","_meta":{{"k":1}},"outputSchema":{OBJECT}',
    NEWEST: f',{ANNOTATED},"title":"T","_meta":{{"k":1}},"outputSchema":{OBJECT},{ICONS}',
}


@pytest.mark.parametrize("version", VERSIONS)
def test_tools_are_what_the_revision_knows_of_them(version: str) -> None:
    tool = f'"name":"t","description":"d","inputSchema":{OBJECT},"x":[1.50]'
    play(
        joined(version),
        exchange(
            "tools/list",
            "",
            f'"tools":[{{{tool}{PARTS[NEWEST]}}}],"nextCursor":"c","ttlMs":1,"cacheScope":"public"',
            f'"tools":[{{{tool}{PARTS[version]}}}],"nextCursor":"c"',
        ),
    )


@pytest.mark.parametrize("version", VERSIONS)
def test_so_are_prompts_resources_and_templates(version: str) -> None:
    titled, pictured = version >= STRUCTURED, version >= NEWEST
    later = (',"title":"T","_meta":{"k":1}' if titled else "") + (f",{ICONS}" if pictured else "")
    everything = f',"title":"T","_meta":{{"k":1}},{ICONS}'
    later_title = f",{TITLE}" if titled else ""
    argument = '"name":"a","required":true'
    noted = '"annotations":{"priority":1%s}'
    modified = ',"lastModified":"2026-01-01T00:00:00Z"'
    seen = noted % (modified if titled else "")
    for method, name, item, got in [
        (
            "prompts/list",
            "prompts",
            f'"name":"p","arguments":[{{{argument},"title":"A"}}]',
            f'"name":"p","arguments":[{{{argument}{later_title}}}]',
        ),
        ("resources/list", "resources", f'"uri":"x:y","name":"r",{noted % modified}', ""),
        (
            "resources/templates/list",
            "resourceTemplates",
            f'"uriTemplate":"x:{{a}}","name":"r",{noted % modified}',
            "",
        ),
    ]:
        got = got or item.replace(noted % modified, seen)
        play(
            joined(version),
            exchange(
                method, "", f'"{name}":[{{{item}{everything}}}]', f'"{name}":[{{{got}{later}}}]'
            ),
        )


# Results ----------------------------------------------------------------------------------------

TEXT = '{"type":"text","text":"t"}'
AUDIO = '{"type":"audio","mimeType":"audio/wav","data":"AA=="}'
LINK = '{"type":"resource_link","uri":"x:y","name":"n","title":"N"}'


@pytest.mark.parametrize("version", VERSIONS)
def test_blocks_that_a_revision_does_not_know_become_text(version: str) -> None:
    audio = AUDIO if version > OLDEST else '{"type":"text","text":"[audio: audio/wav]"}'
    link = LINK if version >= STRUCTURED else '{"type":"text","text":"N: x:y"}'
    play(
        joined(version),
        exchange(
            "tools/call",
            '"name":"t"',
            f'"content":[{TEXT},{AUDIO},{LINK}],"isError":true',
            f'"content":[{TEXT},{audio},{link}],"isError":true',
        ),
    )
    play(
        joined(version),
        exchange(
            "prompts/get",
            '"name":"p"',
            f'"messages":[{{"role":"user","content":{AUDIO}}},{{"role":"user","content":{LINK}}}]',
            f'"messages":[{{"role":"user","content":{audio}}},{{"role":"user","content":{link}}}]',
        ),
    )


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("structured", "since"),
    [('{"a":[1.50]}', STRUCTURED), ("[1.50]", "never"), ("null", "never"), ('"t"', "never")],
)
def test_structured_content_that_a_revision_does_not_know_becomes_text(
    version: str, structured: str, since: str
) -> None:
    text = structured.replace('"', '\\"')
    got = f'"content":[{{"type":"text","text":"{text}"}}]'
    if since <= version:
        got = f'"content":[],"structuredContent":{structured}'
    play(
        joined(version),
        exchange("tools/call", '"name":"t"', f'"content":[],"structuredContent":{structured}', got),
    )
    # There is a text already.
    got = f'"content":[{TEXT}]' + (f',"structuredContent":{structured}' if since <= version else "")
    play(
        joined(version),
        exchange(
            "tools/call", '"name":"t"', f'"content":[{TEXT}],"structuredContent":{structured}', got
        ),
    )


@pytest.mark.parametrize("version", [STRUCTURED, NEWEST])
def test_a_tool_that_lost_its_schema_has_no_structured_content(version: str) -> None:
    tool = f'"name":"t","inputSchema":{OBJECT}'
    play(
        joined(version),
        exchange(
            "tools/list",
            "",
            f'"tools":[{{{tool},"outputSchema":{{"type":"array"}}}}]',
            f'"tools":[{{{tool}}}]',
        ),
        request("2", FIRST + 1, "tools/call", '"name":"t"')
        + f'child > {{"id":{FIRST + 1},"result":{{"content":[],"structuredContent":{{"a":1}}}}}}\n'
        + 'host  < {"id":2,"result":{"content":[{"type":"text","text":"{\\"a\\":1}"}]}}\n',
    )


@pytest.mark.parametrize("version", VERSIONS)
def test_progress_has_its_message_where_there_is_one(version: str) -> None:
    head = '{"method":"notifications/progress","params":{"progressToken":%s,"progress":1,"total":2'
    message, token = ',"message":"m"', '"p"'
    play(
        joined(version),
        f"""
host  > {{"id":1,"method":"tools/call","params":{{"name":"t","_meta":{{"progressToken":"p"}}}}}}
child < {{"id":{FIRST},"method":"tools/call",
         "params":{{"name":"t",{meta("{}", f'"progressToken":{FIRST}')}}}}}
""",
        f"child > {head % FIRST}{message}}}}}\n"
        f"host  < {head % token}{message if version > OLDEST else ''}}}}}",
        done(FIRST, "1"),
    )


# Questions --------------------------------------------------------------------------------------


def sample(*messages: str) -> str:
    """A request for sampling with these messages."""
    return (
        '"method":"sampling/createMessage",'
        f'"params":{{"maxTokens":9,"messages":[{",".join(messages)}]}}'
    )


@pytest.mark.parametrize("version", VERSIONS)
def test_messages_of_several_blocks_become_several_where_there_are_none(version: str) -> None:
    plain = '{"role":"user","content":{"type":"text","text":"t"}}'
    several = f'{{"role":"assistant","content":[{TEXT},{{"type":"text","text":"u"}}]}}'
    apart = [
        f'{{"role":"assistant","content":{TEXT}}}',
        '{"role":"assistant","content":{"type":"text","text":"u"}}',
    ]
    declared = '{"sampling":{}}'
    shown = sample(plain, several, plain)
    if version < NEWEST:
        shown = sample(plain, *apart, plain)
    play(
        opening(declared, version=version) + INITIALIZED,
        request("1", FIRST, "tools/call", '"name":"t"', meta(declared)),
        wants(FIRST, f'"k":{{{sample(plain, several, plain)}}}') + asked("b-1", shown),
        answers("b-1", SAMPLED) + again(FIRST + 1, f'"k":{SAMPLED}', envelope=meta(declared)),
    )


@clause("C-52")
@pytest.mark.parametrize("version", [STRUCTURED, NEWEST])
@pytest.mark.parametrize("mode", ["", '"mode":"form",'])
def test_a_form_has_a_mode_where_there_is_another(version: str, mode: str) -> None:
    rest = '"message":"m","requestedSchema":{"type":"object","properties":{}}}'
    head = '"method":"elicitation/create","params":{'
    declared = '{"elicitation":{}}'
    shown = head + (mode if version == NEWEST else "") + rest
    play(
        opening(declared, version=version) + INITIALIZED,
        request("1", FIRST, "tools/call", '"name":"t"', meta(declared)),
        wants(FIRST, f'"k":{{{head}{mode}{rest}}}') + asked("b-1", shown),
        answers("b-1", ACCEPTED) + again(FIRST + 1, f'"k":{ACCEPTED}', envelope=meta(declared)),
    )


@clause("C-51")
@pytest.mark.parametrize("version", [OLDEST, BATCHED, STRUCTURED])
def test_a_host_of_before_urls_has_nothing_but_the_form(version: str) -> None:
    play(
        opening('{"elicitation":{"form":{},"url":{}}}', version=version, told='{"elicitation":{}}')
    )
