"""The readers of JSON, TOML and YAML say what is there and where, and where it is wrong."""

import datetime
import json
import tomllib
from types import ModuleType
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from mcp_era_bridge import config_json, config_toml, config_yaml
from mcp_era_bridge.config_text import BadText, Literal, Node

JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)
TOML = [
    "",
    "a = 1",
    "a.b.c = 1\na.b.d = 2\n",
    "[a]\n[a.b]\nc = 1\n[d.\"e f\".'g']\nh = 1\n",
    "[[a]]\nb = 1\n[[a]]\nb = 2\n[a.c]\nd = 3\n[[a.e]]\nf = 4\n",
    "a = [[1, 2], [ ], [\n# c\n3, # d ]\n]]\n",
    "a = {b = 1, c = {}, d.e = [{f = 1}]}\n",
    'a = """\nb \\""" "" c""""" # d\nb = \'\'\'\'\n\'c\' \\\'\'\'\n',
    "a = 1979-05-27 07:32:00 # c\nb = 07:32:00\nc = -1.5e3\nd = 0xff\ne = true\nf = inf\n",
    "  [ a . b ]  # c\r\n\tc\t=\t'd'\r\n",
    'a = "\\u00e4\\n\\"]"\n\'a b\' = \'c\'\n"d" = 1',
]
YAML_TEXTS = [
    "",
    "# only a comment",
    "a: 1\nb: [x, 'y', \"z\"]\nc: {d: e}\n",
    "- a\n- - b\n  - c\n-\n  d: e\n",
    "a: &a {b: c}\nd: *a\ne:\n  <<: *a\n",
    "a: |\n  b\n  c\nd: >-\n  e\n  f\ng: h\n  i\n",
    "? a\n: b\n",
    "a: ~\nb:\nc: null\nd: yes\ne: 1.5\nf: 0x1\ng: true\n",
    "%YAML 1.2\n---\na: !!str 1\n...\n",
]


def matches(node: Node, value: object) -> bool:
    """Whether a tree says what a library says; what is no word is compared by its being none."""
    if isinstance(value, dict):
        entries = {str(key): item for key, item in cast("dict[object, object]", value).items()}
        members = node.members
        return (
            members is not None
            and sorted(member.key for member in members) == sorted(entries)
            and all(matches(member.node, entries[member.key]) for member in members)
        )
    if isinstance(value, list):
        ours, theirs = node.items, cast("list[object]", value)
        return ours is not None and len(ours) == len(theirs) and all(map(matches, ours, theirs))
    if value is None or isinstance(value, (str, bool)):
        return node.value == value
    assert isinstance(value, (int, float, datetime.date, datetime.time))
    return isinstance(node.value, Literal)


@given(JSON_VALUES, st.sampled_from([None, 0, 2, "\t"]), st.booleans())
def test_json_says_what_the_standard_library_says(
    value: object, indent: int | str | None, ascii: bool
) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii)
    assert matches(config_json.parse(text), json.loads(text))


@given(st.text('{}[]",:/*\n \\u0041truefalsnul-1.e', max_size=30))
def test_json_is_read_or_refused_and_nothing_else(text: str) -> None:
    try:
        read: object = json.loads(text)
    except json.JSONDecodeError:
        try:
            config_json.parse(text)
        except BadText:
            pass
    else:
        assert matches(config_json.parse(text), read)


@pytest.mark.parametrize("text", TOML)
def test_toml_says_what_the_standard_library_says(text: str) -> None:
    assert matches(config_toml.parse(text), tomllib.loads(text))


@pytest.mark.parametrize("text", YAML_TEXTS)
def test_yaml_says_what_its_library_says(text: str) -> None:
    node = config_yaml.parse(text)
    if "<<" in text:
        return  # who merges maps is the host's business
    loaded: object = YAML(typ="safe", pure=True).load(text)  # pyright: ignore
    assert matches(node, {} if loaded is None else loaded)


@pytest.mark.parametrize(
    ("reader", "text", "value"),
    [
        (config_json, '{"a": "\\u0062", // c\n}', '"\\u0062"'),
        (config_json, '/* c */ {"x": 1, "a" /**/ : /**/ "b"}', '"b"'),
        (config_toml, "[x]\na=2\n[y]\n[z]\n[x.b]\nc=1\n", None),
        (config_toml, "a = 'b' # c", "'b'"),
        (config_yaml, "x: 1\na: 'b' # c", "'b'"),
        (config_yaml, "{x: 1, a: b}", "b"),
    ],
)
def test_a_reader_says_where_a_value_is(reader: ModuleType, text: str, value: str | None) -> None:
    found: Node | None = reader.parse(text).at("a")
    assert (text[found.start : found.end] if found else None) == value


@pytest.mark.parametrize(
    ("reader", "text", "where"),
    [
        (config_json, '{"a": 1,\n  "b" 2}', "line 2, column 7: expected a colon"),
        (config_json, '{"a": 1\n  "b": 2}', "line 2, column 3: expected a comma or }"),
        (config_json, "{a: 1}", "line 1, column 2: expected a key"),
        (config_json, '{"a": "b\n"}', "line 1, column 9: invalid control character"),
        (config_json, '{"a": nul}', "line 1, column 7: expected a value"),
        (config_json, '{"a": 1} /* c', "line 1, column 10: expected the end"),
        (config_toml, "a = 1\nb = \n", "line 2, column 5: invalid value"),
        (config_toml, "a = [1", "line 1, column 7: "),
        (config_yaml, "a: 1\nb: 'c\n", "line 3, column 1: found unexpected end of stream"),
        (config_yaml, "a: 1\n\x01", "line 2, column 1: a character"),
        (config_yaml, "a: *b\n", "line 1, column 4: found undefined alias"),
    ],
)
def test_a_reader_says_where_it_is_wrong(reader: ModuleType, text: str, where: str) -> None:
    with pytest.raises(BadText) as caught:
        reader.parse(text)
    assert where in str(caught.value)


@given(st.text())
def test_a_quoted_word_is_read_as_it_was(word: str) -> None:
    for reader in (config_json, config_toml, config_yaml):
        text = f"{{a: {reader.quote(word)}}}" if reader is config_yaml else reader.quote(word)
        if reader is config_toml:
            text = f"a = {text}"
        if reader is config_json:
            text = f'{{"a": {text}}}'
        assert reader.parse(text).at("a") is not None
        found: Node | None = reader.parse(text).at("a")
        assert found is not None
        assert found.value == word
