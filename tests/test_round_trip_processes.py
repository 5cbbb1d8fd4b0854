"""Bridges back to back with real processes: the bundled old server, seen through none and several.

Which feature survives what is told and played in test_round_trips.py.
"""

import sys
from typing import cast

from bridge_process import KEY, LAUNCH, BridgeProcess, legacy_request, modern_request
from scripted_child import Object

SERVER = (sys.executable, "-m", "mcp_era_bridge.old_server")
CAPABILITIES: Object = {"elicitation": {}, "sampling": {}, "roots": {"listChanged": True}}
ANSWERS: dict[str, Object] = {
    "elicitation/create": {"action": "accept", "content": {"size": "small", "milk": True}},
    "sampling/createMessage": {
        "role": "assistant",
        "content": {"type": "text", "text": "sencha"},
        "model": "m",
    },
    "roots/list": {"roots": [{"uri": "file:///tea"}]},
}


def bridges(*eras: str) -> tuple[str, ...]:
    """The command of bridges in a row in front of the old server."""
    command: tuple[str, ...] = SERVER
    for era in reversed(eras):
        command = (*LAUNCH, "--no-cache", "--era", era, "--", *command)
    return command


def host_of(command: tuple[str, ...]) -> BridgeProcess:
    return BridgeProcess((), cache=True, launch=command, dashes=False)


# A legacy host -----------------------------------------------------------------------------------


def seen_by_a_legacy_host(*eras: str) -> list[object]:
    """A whole session: every answer, and what came beside the answers."""
    seen: list[object] = []
    with host_of(bridges(*eras)) as server:
        info = {"name": "test", "version": "0"}
        hello: Object = {"capabilities": CAPABILITIES, "clientInfo": info}
        opening = legacy_request("i", "initialize", protocolVersion="2025-11-25", **hello)
        seen.append(server.result(opening))
        server.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        level = legacy_request("l", "logging/setLevel", level="debug")
        seen.append(server.result(level))

        def call(name: str, meta: Object | None = None, **arguments: object) -> Object:
            params: Object = {"name": name, "arguments": arguments}
            if meta is not None:
                params["_meta"] = meta
            return legacy_request(name, "tools/call", **params)

        seen.append(server.result(legacy_request(1, "tools/list")))
        seen.append(server.result(call("price", tea="sencha", cups=3)))
        seen.append(server.result(call("brew", {"progressToken": "p"}, tea="assam", seconds=0)))
        seen.append([each["params"] for each in server.notified("notifications/progress", 4)])
        seen.append([each["params"] for each in server.notified("notifications/message", 5)])
        for method, request in (
            ("elicitation/create", call("order", tea="assam")),
            ("sampling/createMessage", call("recommend")),
            ("roots/list", call("folders")),
        ):
            server.send(request)
            (question,) = server.notified(method)
            seen.append(question.get("params") or {})
            server.send({"jsonrpc": "2.0", "id": question["id"], "result": ANSWERS[method]})
            seen.append(server.answer(cast(str, request["id"])))
        seen.append(server.result(legacy_request(2, "resources/subscribe", uri="tea://stock")))
        seen.append(server.result(call("restock", tea="assam", grams=50)))
        seen.append(server.notified("notifications/resources/updated"))
        seen.append(server.result(call("cellar", open=True)))
        seen.append(server.notified("notifications/tools/list_changed"))
        seen.append(server.error(legacy_request(3, "resources/read", uri="tea://coffee")))
        seen.append(server.error(legacy_request(4, "tools/call", name="coffee")))
        seen.append(server.result(call("refund")))
        seen.append(server.error(legacy_request(5, "example.com/novelty")))
        server.end()
    return seen


def test_a_legacy_host_sees_through_two_bridges_what_it_sees_directly() -> None:
    direct = seen_by_a_legacy_host()
    assert seen_by_a_legacy_host("modern", "legacy") == direct


# A modern host -----------------------------------------------------------------------------------


def seen_by_a_modern_host(*eras: str) -> list[object]:
    """Calls of every kind, and what comes with them."""
    seen: list[object] = []
    with host_of(bridges(*eras)) as server:

        def request(id: str, method: str, meta: Object | None = None, **params: object) -> Object:
            made = modern_request(id, method, CAPABILITIES, **params)
            cast(dict[str, Object], made["params"])["_meta"].update(meta or {})
            return made

        def call(name: str, meta: Object | None = None, **arguments: object) -> Object:
            return request(name, "tools/call", meta, name=name, arguments=arguments)

        seen.append(server.result(request("d", "server/discover")))
        wanted = {"toolsListChanged": True, "resourceSubscriptions": ["tea://stock"]}
        server.send(request("s", "subscriptions/listen", notifications=wanted))
        seen.append(server.notified("notifications/subscriptions/acknowledged"))
        seen.append(server.result(request("t", "tools/list")))
        meta: Object = {"progressToken": "p", KEY + "logLevel": "debug"}
        seen.append(server.result(call("brew", meta, tea="assam", seconds=0)))
        seen.append([each["params"] for each in server.notified("notifications/progress", 4)])
        seen.append([each["params"] for each in server.notified("notifications/message", 4)])
        for name in ("order", "recommend", "folders"):
            arguments: Object = {"tea": "assam"} if name == "order" else {}
            asked = server.result(call(name, None, **arguments))
            ((key, question),) = cast(dict[str, Object], asked["inputRequests"]).items()
            seen.append(question)
            retry = request(
                f"{name} again",
                "tools/call",
                name=name,
                arguments=arguments,
                requestState=asked["requestState"],
                inputResponses={key: ANSWERS[cast(str, question["method"])]},
            )
            seen.append(server.result(retry))
        seen.append(server.result(call("restock", tea="assam", grams=50)))
        seen.append(server.notified("notifications/resources/updated"))
        seen.append(server.result(call("cellar", open=True)))
        seen.append(server.notified("notifications/tools/list_changed"))
        seen.append(server.error(request("r", "resources/read", uri="tea://coffee")))
        seen.append(server.error(request("c", "tools/call", name="coffee")))
        server.end()
    return seen


def test_a_modern_host_sees_through_three_bridges_what_it_sees_through_one() -> None:
    once = seen_by_a_modern_host("legacy")
    assert seen_by_a_modern_host("legacy", "modern", "legacy") == once
