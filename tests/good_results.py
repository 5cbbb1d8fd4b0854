"""Results as a modern server may send them, made up by hypothesis: 2026-07-28, schema.ts."""

from collections.abc import Mapping
from typing import Final, TypeAlias

from hypothesis import strategies as st

from fitting import SERVER_INFO_KEY

Strategy: TypeAlias = st.SearchStrategy[object]
Objects: TypeAlias = st.SearchStrategy[dict[str, object]]


def made(members: Mapping[str, Strategy], /, **optional: Strategy) -> Objects:
    return st.fixed_dictionaries(dict(members), optional=optional)


small = st.text(st.characters(codec="ascii", categories=["L", "N"]), max_size=4)
some_json: Strategy = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | small,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(small, inner, max_size=2),
    max_leaves=4,
)
metas = st.dictionaries(small, some_json, max_size=2)
annotations = made(
    {},
    audience=st.lists(st.sampled_from(["user", "assistant"]), max_size=2),
    priority=st.floats(0, 1),
    lastModified=st.just("2026-01-12T15:00:58Z"),
)
icons = st.lists(st.just({"src": "https://example.com/i.png", "sizes": ["48x48"]}), max_size=1)
described: dict[str, Strategy] = {
    "title": small,
    "description": small,
    "icons": icons,
    "_meta": metas,
}
uris = small.map("x:".__add__)
contents = made({"uri": uris, "text": small}, mimeType=small, _meta=metas) | made(
    {"uri": uris, "blob": st.just("aQ==")}, mimeType=small, _meta=metas
)
data: dict[str, Strategy] = {"data": st.just("aQ=="), "mimeType": small}
parted: dict[str, Strategy] = {"annotations": annotations, "_meta": metas}
resources = made({"uri": uris, "name": small}, annotations=annotations, **described)
blocks = (
    made({"type": st.just("text"), "text": small}, **parted)
    | made({"type": st.just("image"), **data}, **parted)
    | made({"type": st.just("audio"), **data}, **parted)
    | made({"type": st.just("resource"), "resource": contents}, **parted)
    | made(
        {"type": st.just("resource_link"), "uri": uris, "name": small},
        annotations=annotations,
        **described,
    )
)
properties = st.dictionaries(small, st.booleans() | st.just({"type": "string"}), max_size=3)
schemas = made(
    {"type": st.just("object")}, properties=properties, oneOf=st.just([{"required": ["a"]}])
)
output_schemas = schemas | made({}, type=st.just("array"), anyOf=st.just([True]))
hints = made({}, title=small, readOnlyHint=st.booleans())
tools = made(
    {"name": small, "inputSchema": schemas},
    outputSchema=output_schemas,
    annotations=hints,
    **described,
)
arguments = made({"name": small}, title=small, description=small, required=st.booleans())
prompts = made({"name": small}, arguments=st.lists(arguments, max_size=2), **described)
messages = made({"role": st.sampled_from(["user", "assistant"]), "content": blocks})
templates = made(
    {"uriTemplate": st.just("x:{y}"), "name": small}, annotations=annotations, **described
)
completions = made({"values": st.lists(small, max_size=3)}, total=st.integers(0, 9))


def many(items: Objects) -> Strategy:
    return st.lists(items, max_size=3)


complete: dict[str, Strategy] = {"resultType": st.just("complete")}
cacheable: dict[str, Strategy] = {
    **complete,
    "ttlMs": st.integers(0, 9),
    "cacheScope": st.sampled_from(["public", "private"]),
}
result_meta = st.just({SERVER_INFO_KEY: {"name": "new", "version": "1"}}) | metas
ends: dict[str, Strategy] = {"nextCursor": small, "_meta": result_meta}
RESULTS: Final[dict[str, Objects]] = {
    "tools/list": made({**cacheable, "tools": many(tools)}, **ends),
    "tools/call": made(
        {**complete, "content": many(blocks)},
        structuredContent=some_json,
        isError=st.booleans(),
        _meta=result_meta,
    ),
    "prompts/list": made({**cacheable, "prompts": many(prompts)}, **ends),
    "prompts/get": made(
        {**complete, "messages": many(messages)}, description=small, _meta=result_meta
    ),
    "resources/list": made({**cacheable, "resources": many(resources)}, **ends),
    "resources/templates/list": made({**cacheable, "resourceTemplates": many(templates)}, **ends),
    "resources/read": made({**cacheable, "contents": many(contents)}, _meta=result_meta),
    "completion/complete": made({**complete, "completion": completions}, _meta=result_meta),
}
"""For each method, results that are good ones of a modern server."""
