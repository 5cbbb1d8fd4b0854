"""What a legacy host and a modern server say in the models of dialogues: every message bears a
marker, so that it can be told what belongs to what.

Lives here: the params, results, questions and answers, and what is noted of each. Does not: what
must be true of them (legacy_host.py).
"""

from typing import Final

import msgspec

from conversation import Json
from stage import at

PREFIX: Final = "io.modelcontextprotocol/"
SUBSCRIPTION_ID: Final = PREFIX + "subscriptionId"
TAKES_INPUT: Final = ("tools/call", "prompts/get", "resources/read")
RESULTS: Final[dict[str, dict[str, Json]]] = {
    "tools/call": {"content": []},
    "tools/list": {"tools": [], "ttlMs": 0, "cacheScope": "private"},
    "prompts/get": {"messages": []},
    "resources/read": {"contents": [], "ttlMs": 0, "cacheScope": "public"},
    "completion/complete": {"completion": {"values": []}},
    "x/y": {"n": 1.5},
}
"""What is asked of the server, and what it answers."""
QUESTION_METHODS: Final = {
    "form": "elicitation/create",
    "url": "elicitation/create",
    "sampling": "sampling/createMessage",
    "roots": "roots/list",
}
GOOD_ANSWERS: Final[dict[str, dict[str, Json]]] = {
    "form": {"action": "accept", "content": {"a": 1}},
    "url": {"action": "accept"},
    "sampling": {"role": "assistant", "content": {"type": "text", "text": "t"}, "model": "m"},
    "roots": {"roots": [{"uri": "file:///a"}]},
}
DECLINED: Final[dict[str, Json]] = {"action": "decline"}
CANCELLED: Final[dict[str, Json]] = {"action": "cancel"}
NEVER_HONOURED: Final = "x:no"
"""A resource that the server does not tell of."""


def params_of(method: str, marker: str) -> dict[str, Json]:
    """Params of a request that tell it from every other."""
    match method:
        case "tools/call" | "prompts/get":
            return {"name": "t", "arguments": {"n": marker}}
        case "resources/read":
            return {"uri": f"u:{marker}"}
        case "tools/list":
            return {"cursor": marker}
        case "completion/complete":
            prompt: Json = {"type": "ref/prompt", "name": "p"}
            return {"ref": prompt, "argument": {"name": "a", "value": marker}}
        case "x/y":
            return {"n": marker}
        case _:
            return {}


def marker_of(params: Json) -> str | None:
    """The marker that params_of has put in."""
    for path in (("arguments", "n"), ("cursor",), ("argument", "value"), ("n",)):
        marker = at(params, *path)
        if isinstance(marker, str):
            return marker
    uri = at(params, "uri")
    return uri.removeprefix("u:") if isinstance(uri, str) and uri.startswith("u:") else None


def question_params(kind: str, marker: str, parts: int = 1) -> dict[str, Json]:
    """Params of a question that tell it from every other."""
    match kind:
        case "form":
            schema: Json = {"type": "object", "properties": {}}
            return {"mode": "form", "message": marker, "requestedSchema": schema}
        case "url":
            return {"mode": "url", "message": "m", "url": marker}
        case "sampling":
            text: Json = {"type": "text", "text": marker}
            several: Json = [text for _ in range(parts)]
            content: Json = text if parts == 1 else several
            return {"messages": [{"role": "user", "content": content}], "maxTokens": 1}
        case _:
            return {"_meta": {"x/q": marker}}


def question_marker(message: Json) -> Json:
    """The marker that question_params has put in."""
    params = at(message, "params")
    if at(message, "method") == "roots/list":
        return at(params, "_meta", "x/q")
    if at(message, "method") == "elicitation/create":
        return at(params, "url") or at(params, "message")
    content = at(params, "messages", 0, "content")
    return at(content, 0, "text") or at(content, "text")


class Ask:
    """An open request of the host."""

    def __init__(self, id: int | str, method: str, params: dict[str, Json]) -> None:
        self.id = id
        self.method = method
        self.params = params
        self.marker = marker_of(params)
        self.token: Json = None
        self.progress = -1.0
        self.level: Json = None
        self.level_is_sure = True
        self.process: int | None = None
        """The process that has it."""
        self.rounds = 0
        self.is_done = False
        """Whether it has its answer, which may wait for others of its batch."""


class Round:
    """What a process wants to know before it goes on with a call."""

    def __init__(self, state: str | None, visited: set[str]) -> None:
        self.state = state
        self.visited = visited
        """The URLs that the user has been to, of the round before."""
        self.kinds: dict[str, str] = {}
        self.markers: dict[str, str] = {}
        self.open: set[str] = set()
        """What the host has not answered, by key."""
        self.answers: dict[str, Json] = {}
        self.accepted: set[str] = set()


class Stream:
    """A `subscriptions/listen` that a process serves."""

    def __init__(self, flags: set[str], uris: set[str]) -> None:
        self.flags = flags
        self.uris = uris
        self.acknowledged = False


class Shown(msgspec.Struct, frozen=True):
    """A question that the host has been put, and not answered."""

    process: int
    marker: str
    key: str
