"""What a modern server's result becomes for a legacy host, and a check of what comes out.

The check is our own list of what a revision does not know, besides the official wire models: these
are open, and let pass what an older host would stumble over.
"""

import json
from typing import Final, TypeAlias

from mcp_types.methods import validate_server_result
from msgspec import Raw

from mcp_era_legacy.results import Fitter
from mcp_era_wire.versions import LEGACY_VERSIONS

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"
Steps: TypeAlias = list[tuple[str, str | None]]
"""What is expected from a revision on, oldest first; None for what the server sent."""

OLDEST, AUDIO, STRUCTURED, NEWEST = LEGACY_VERSIONS
SERVER_INFO_KEY: Final = "io.modelcontextprotocol/serverInfo"
SERVER_INFO: Final = f'"{SERVER_INFO_KEY}":{{"name":"new","version":"1"}}'
DONE: Final = f'"resultType":"complete","_meta":{{{SERVER_INFO}}}'
LISTS: Final = {
    "tools/list": "tools",
    "tools/call": "content",
    "prompts/list": "prompts",
    "prompts/get": "messages",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
    "resources/read": "contents",
}
"""The member of each result that holds a list."""
BARE: Final = {
    **{method: f'"{name}":[]' for method, name in LISTS.items()},
    "completion/complete": '"completion":{"values":["a"],"total":1}',
}
"""A result of each method with nothing in it that a revision might not know."""


def fitted(
    method: str, version: str, result: str, tool: str | None = None, fitter: Fitter | None = None
) -> str:
    """What `result` becomes; a second fitting finds nothing to do."""
    fitter = fitter or Fitter(version)
    pieces = fitter.fit(method, Raw(result.encode()), tool)
    assert pieces is not None
    text = b"".join(pieces)
    again = fitter.fit(method, Raw(text), tool)
    assert again is not None and b"".join(again) == text
    return text.decode()


def checked(method: str, version: str, result: str, tool: str | None = None) -> str:
    """The same for a result that is a good one: what it becomes is good too."""
    text = fitted(method, version, result, tool)
    validate_server_result(method, version, json.loads(text))
    assert foreign(method, version, json.loads(text)) == []
    return text


def of(steps: Steps, version: str) -> str | None:
    return [text for since, text in steps if since <= version][-1]


NOT_BEFORE: Final = {
    "title": STRUCTURED,
    "_meta": STRUCTURED,
    "lastModified": STRUCTURED,
    "outputSchema": STRUCTURED,
    "icons": NEWEST,
    "execution": "9999",
}
KINDS: Final = {"text": OLDEST, "image": OLDEST, "resource": OLDEST} | {
    "audio": AUDIO,
    "resource_link": STRUCTURED,
}


def foreign(method: str, version: str, result: "dict[str, Json]") -> list[str]:
    """The members of a result, by path, that a revision does not know."""
    found: list[str] = [name for name in ("resultType", "ttlMs", "cacheScope") if name in result]
    meta = result.get("_meta", {"": 0})
    if not meta or (isinstance(meta, dict) and SERVER_INFO_KEY in meta):
        found.append("_meta")
    if "structuredContent" in result and (
        version < STRUCTURED or not isinstance(result["structuredContent"], dict)
    ):
        found.append("structuredContent")
    items = result.get(LISTS.get(method, ""), [])
    assert isinstance(items, list)
    for number, item in enumerate(items):
        found += [f"{number}.{path}" for path in foreign_parts(item, version)]
        if method == "tools/list" and isinstance(item, dict):
            if "annotations" in item and version < AUDIO:
                found.append(f"{number}.annotations")
            schema = item.get("outputSchema", {"type": "object"})
            if not isinstance(schema, dict) or schema.get("type") != "object":
                found.append(f"{number}.outputSchema")
    return found


def foreign_parts(part: Json, version: str) -> list[str]:
    if not isinstance(part, dict):
        return []
    found = [name for name, since in NOT_BEFORE.items() if name in part and version < since]
    kind = part.get("type")
    if isinstance(kind, str) and version < KINDS.get(kind, OLDEST):
        found.append(kind)
    annotations = part.get("annotations")
    if isinstance(annotations, dict) and "lastModified" in annotations and version < STRUCTURED:
        found.append("annotations.lastModified")
    for name in ("content", "resource"):
        found += [f"{name}.{path}" for path in foreign_parts(part.get(name), version)]
    arguments = part.get("arguments")
    for argument in arguments if isinstance(arguments, list) else []:
        found += [f"arguments.{path}" for path in foreign_parts(argument, version)]
    return found
