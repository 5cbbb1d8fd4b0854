"""What wrapping and unwrapping change in a text: command and args of the servers, nothing else."""

from collections.abc import Sequence
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config_texts import SAMPLES, Sample, plain
from mcp_era_bridge import config_edit, config_json, config_toml, config_yaml
from mcp_era_bridge.config_edit import Refused
from mcp_era_bridge.config_servers import PLAIN, WRAPPED, Server, Where, read, servers
from mcp_era_bridge.config_text import Argv, Comparison

BRIDGE = ["/opt/my bridge/mcp-bridge", "--log-level=info", "--"]
JSON = Where(("mcpServers",))
TOML = Where(("mcp_servers",))
LIST = Where(("mcpServers",), named_by="name")


def all_of(text: str, format: ModuleType, where: Where) -> list[Server]:
    return servers(read(text, format), (where,), "user", "stem")


def wrapped(
    text: str,
    format: ModuleType = config_json,
    where: Where = JSON,
    names: Sequence[str] | None = None,
    words: Sequence[str] = ("mcp-bridge", "--"),
) -> str:
    top = read(text, format)
    found = servers(top, (where,), "user", "stem")
    chosen = [s for s in found if s.state == PLAIN and (names is None or s.name in names)]
    return config_edit.wrap(text, format, top, chosen, words)


def unwrapped(
    text: str,
    format: ModuleType = config_json,
    where: Where = JSON,
    names: Sequence[str] | None = None,
) -> str:
    top = read(text, format)
    found = servers(top, (where,), "user", "stem")
    chosen = [s for s in found if s.state == WRAPPED and (names is None or s.name in names)]
    return config_edit.unwrap(text, format, top, chosen)


# Whatever the text ------------------------------------------------------------------------------


@given(SAMPLES)
def test_a_reader_says_what_the_text_was_made_from(sample: Sample) -> None:
    assert plain(read(sample.text, sample.format)) == sample.value


@given(SAMPLES, st.data())
def test_unwrapping_what_was_wrapped_gives_the_same_text(
    sample: Sample, data: st.DataObject
) -> None:
    names = [s.name for s in all_of(sample.text, sample.format, sample.where)]
    some = data.draw(st.lists(st.sampled_from(names), unique=True))
    new = wrapped(sample.text, sample.format, sample.where, some, BRIDGE)
    assert unwrapped(new, sample.format, sample.where, some) == sample.text


@given(SAMPLES, st.data())
def test_nothing_changes_but_command_and_args_of_the_servers_that_are_meant(
    sample: Sample, data: st.DataObject
) -> None:
    before = all_of(sample.text, sample.format, sample.where)
    some = data.draw(st.lists(st.sampled_from([s.name for s in before]), unique=True))
    new = wrapped(sample.text, sample.format, sample.where, some, BRIDGE)
    for name in some:
        server = sample.command_of(name)
        args = server.get("args", [])
        assert isinstance(args, list)
        server["args"] = [*BRIDGE[1:], server["command"], *args]
        server["command"] = BRIDGE[0]
    assert plain(read(new, sample.format)) == sample.value
    if sample.format is not config_toml:
        for old, now in zip(before, all_of(new, sample.format, sample.where), strict=True):
            if old.name not in some:
                here, there = old.node, now.node
                assert sample.text[here.start : here.end] == new[there.start : there.end]


@given(SAMPLES)
def test_what_is_wrapped_is_seen_to_be_and_has_the_same_command(sample: Sample) -> None:
    before = all_of(sample.text, sample.format, sample.where)
    new = wrapped(sample.text, sample.format, sample.where, None, BRIDGE)
    after = all_of(new, sample.format, sample.where)
    assert [s.state for s in after] == [WRAPPED] * len(before)
    assert [s.inner for s in after] == [s.argv for s in before]
    assert wrapped(new, sample.format, sample.where, None, BRIDGE) == new


# As it is meant to look -------------------------------------------------------------------------

SHOWN = {
    "no args": (
        '{"mcpServers": {"a": {"command": "x"}}}',
        '{"mcpServers": {"a": {"command": "mcp-bridge", "args": [ "--", "x" ]}}}',
    ),
    "empty args": (
        '{"mcpServers": {"a": {"command": "x", "args": []}}}',
        '{"mcpServers": {"a": {"command": "mcp-bridge", "args": ["--", "x"]}}}',
    ),
    "empty args with a space": (
        '{"mcpServers": {"a": {"command": "x", "args": [ ]}}}',
        '{"mcpServers": {"a": {"command": "mcp-bridge", "args": ["--", "x" ]}}}',
    ),
    "args on one line": (
        '{"mcpServers": {"a": {"args": ["y"], "command": "x", "env": {}}}}',
        '{"mcpServers": {"a": {"args": ["--", "x", "y"], "command": "mcp-bridge", "env": {}}}}',
    ),
    "args on lines": (
        '{\n\t"mcpServers": {\n\t\t"a": {\n\t\t\t"command": "x",\n\t\t\t"args": [\n\t\t\t\t"y"\n'
        "\t\t\t]\n\t\t}\n\t}\n}\n",
        '{\n\t"mcpServers": {\n\t\t"a": {\n\t\t\t"command": "mcp-bridge",\n\t\t\t"args": [\n'
        '\t\t\t\t"--",\n\t\t\t\t"x",\n\t\t\t\t"y"\n\t\t\t]\n\t\t}\n\t}\n}\n',
    ),
    "a member for each line": (
        '{"mcpServers": {\r\n  "a": {\r\n    "command": "C:\\\\x y.exe", // why\r\n  }}}',
        '{"mcpServers": {\r\n  "a": {\r\n    "command": "mcp-bridge",\r\n    "args":'
        ' [ "--", "C:\\\\x y.exe" ], // why\r\n  }}}',
    ),
}


@pytest.mark.parametrize("name", SHOWN)
def test_json_looks_as_its_author_would_have_written_it(name: str) -> None:
    before, after = SHOWN[name]
    assert wrapped(before) == after
    assert unwrapped(after) == before


SHOWN_TOML = {
    "no args": (
        '[mcp_servers.a]\n  command = "x" # why\n[z]\n',
        '[mcp_servers.a]\n  command = "mcp-bridge" # why\n  args = [ "--", "x" ]\n[z]\n',
    ),
    "at the end of the file": (
        "[mcp_servers.a]\r\ncommand = 'x'",
        '[mcp_servers.a]\r\ncommand = "mcp-bridge"\r\nargs = [ "--", \'x\' ]',
    ),
    "args on lines": (
        '[mcp_servers.a]\ncommand = "x"\nargs = [\n  "y", # y\n]\n',
        '[mcp_servers.a]\ncommand = "mcp-bridge"\nargs = [\n  "--",\n  "x",\n  "y", # y\n]\n',
    ),
    "inline": (
        'mcp_servers = {a = {command="x"}}',
        'mcp_servers = {a = {command="mcp-bridge", args=[ "--", "x" ]}}',
    ),
    "dotted": (
        'mcp_servers.a.command = "x"\n',
        'mcp_servers.a.command = "mcp-bridge"\nmcp_servers.a.args = [ "--", "x" ]\n',
    ),
}


@pytest.mark.parametrize("name", SHOWN_TOML)
def test_toml_looks_as_its_author_would_have_written_it(name: str) -> None:
    before, after = SHOWN_TOML[name]
    assert wrapped(before, config_toml, TOML) == after
    assert unwrapped(after, config_toml, TOML) == before


SHOWN_YAML = {
    "no args": (
        "mcpServers:\n  - name: a\n    command: x # why\n",
        'mcpServers:\n  - name: a\n    command: "mcp-bridge" # why\n    args: [ "--", x ]\n',
    ),
    "args on lines": (
        "mcpServers:\n  - name: a\n    command: x\n    args:\n      # y\n      - -y\n",
        'mcpServers:\n  - name: a\n    command: "mcp-bridge"\n    args:\n      # y\n      - "--"\n'
        "      - x\n      - -y\n",
    ),
    "args in brackets": (
        "mcpServers:\n  - {name: a, command: 'x', args: [y]}\n",
        'mcpServers:\n  - {name: a, command: "mcp-bridge", args: ["--", \'x\', y]}\n',
    ),
}


@pytest.mark.parametrize("name", SHOWN_YAML)
def test_yaml_looks_as_its_author_would_have_written_it(name: str) -> None:
    before, after = SHOWN_YAML[name]
    assert wrapped(before, config_yaml, LIST) == after
    assert unwrapped(after, config_yaml, LIST) == before


# Wrapped by somebody else -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('"command": "mcp-bridge", "args": ["--", "x", "y"]', '"command": "x", "args": ["y"]'),
        ('"command": "mcp-bridge", "args": ["--", "x"]', '"command": "x", "args": []'),
        ('"command": "mcp-bridge", "args": ["x"]', '"command": "x", "args": []'),
        ('"args": [\n"--",\n"x",\n], "command": "mcp-bridge"', '"args": [\n\n], "command": "x"'),
        (
            '"command": "python3", "args": ["-X", "dev", "-m", "mcp_era_bridge", "--", "x", 1]',
            '"command": "x", "args": [1]',
        ),
        (
            '"command": "cmd", "args": ["/c", "mcp-bridge", "--era", "legacy", "--", "npx", "y"]',
            '"command": "cmd", "args": ["/c", "npx", "y"]',
        ),
    ],
)
def test_a_server_that_was_wrapped_by_hand_is_unwrapped(before: str, after: str) -> None:
    assert unwrapped(f'{{"mcpServers": {{"a": {{{before}}}}}}}') == (
        f'{{"mcpServers": {{"a": {{{after}}}}}}}'
    )


@pytest.mark.parametrize(
    ("args", "after"),
    [
        ("    args:\n      - --\n      - x\n", "    args:\n      []\n"),
        ("    args:\n    - x\n", None),
    ],
)
def test_a_list_in_lines_may_become_empty(args: str, after: str | None) -> None:
    text = f"mcpServers:\n  - name: a\n    command: mcp-bridge\n{args}"
    new = unwrapped(text, config_yaml, LIST)
    assert plain(read(new, config_yaml)) == {
        "mcpServers": [{"name": "a", "command": "x", "args": []}]
    }
    assert after is None or new.endswith(after)


# Proven ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("new", "same"),
    [
        ('{"a": {"command": "b", "args": ["--", "x"], "env": {}}, "c": [1, {"d": null}]}', True),
        ('{"a": {"env": {}, "args": ["--", "x"], "command": "b"}, "c": [1, {"d": null}]}', True),
        ('{"a": {"command": "q", "args": ["--", "x"], "env": {}}, "c": [1, {"d": null}]}', False),
        ('{"a": {"command": "b", "args": ["x"], "env": {}}, "c": [1, {"d": null}]}', False),
        ('{"a": {"command": "b", "env": {}}, "c": [1, {"d": null}]}', False),
        ('{"a": {"args": ["--", "x"], "env": {}}, "c": [1, {"d": null}]}', False),
        ('{"a": {"command": "b", "args": ["--", "x"]}, "c": [1, {"d": null}]}', False),
        ('{"a": {"command": "b", "args": ["--", "x"], "env": []}, "c": [1, {"d": null}]}', False),
        ('{"a": {"command": "b", "args": ["--", "x"], "env": {}}, "c": [2, {"d": null}]}', False),
        ('{"a": {"command": "b", "args": ["--", "x"], "env": {}}, "c": [1, {"d": false}]}', False),
        ('{"a": {"command": "b", "args": ["--", "x"], "env": {}}, "c": [1]}', False),
        ('{"a": {"command": "b", "args": ["--", "x"], "env": {}}, "e": [1, {"d": null}]}', False),
        ('{"c": [1, {"d": null}]}', False),
    ],
)
def test_two_texts_say_the_same_but_for_what_was_meant_to_change(new: str, same: bool) -> None:
    old = config_json.parse('{"a": {"command": "x", "env": {}}, "c": [1, {"d": null}]}')
    server = old.at("a")
    assert server is not None
    comparison = Comparison({id(server): Argv("command", "b", ["--", "x"])})
    assert comparison.same(old, config_json.parse(new)) == same


# Refused ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("- {name: a, command: *c}", "a word of 'a' is written in a way"),
        ("- name: a\n  command: >-\n    x", "a word of 'a' is written in a way"),
        ("- name: a\n  command: x[1]", "Write it in quotes"),
        ("- name: a\n  command: x\n  args: &r [y]\n- name: b\n  other: *r", "touched more than"),
        ("- name: a\n  command: x\n  args: *r\n", "alias"),
    ],
)
def test_what_cannot_be_moved_is_refused(text: str, what: str) -> None:
    lines = "".join(f"  {line}\n" for line in text.splitlines())
    text = f"r: &r [z]\nc: &c x\nmcpServers:\n{lines}"
    with pytest.raises(Refused) as caught:
        wrapped(text, config_yaml, LIST, ["a"])
    assert what in str(caught.value)


def test_a_command_line_in_one_string_is_refused() -> None:
    with pytest.raises(Refused) as caught:
        wrapped('{"mcpServers": {"a": {"command": "npx -y server"}}}')
    assert "whole command line" in str(caught.value)


@pytest.mark.parametrize("args", ["null", '"x"', '[["x"]]', "{}"])
def test_args_that_are_no_list_of_words_are_refused(args: str) -> None:
    with pytest.raises(Refused) as caught:
        wrapped(f'{{"mcpServers": {{"a": {{"command": "x", "args": {args}}}}}}}')
    assert "no list of words" in str(caught.value)


def test_of_several_servers_with_one_name_the_last_is_meant() -> None:
    text = '{"mcpServers": {"a": {"command": "x"}, "a": {"command": "y", "command": "z"}}}'
    new = wrapped(text)
    assert new == text.replace('"z"', '"mcp-bridge", "args": [ "--", "z" ]')
    assert unwrapped(new) == text
