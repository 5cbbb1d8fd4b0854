"""Lines of conversations in which a modern child tells a legacy host of changes."""

import json

from handshakes import FIRST, INITIALIZED, WATCHABLE, opening

FLAGS = {
    "toolsListChanged": "notifications/tools/list_changed",
    "promptsListChanged": "notifications/prompts/list_changed",
    "resourcesListChanged": "notifications/resources/list_changed",
}
ALL = '"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true'
RESOURCES = '{"resources":{"subscribe":true}}'
JOINED_TO_RESOURCES = opening(offers=RESOURCES) + INITIALIZED
"""The child tells of single resources, and of no lists."""


def listen(child_id: int, wanted: str) -> str:
    """The child is asked for a stream."""
    return (
        f'child < {{"id":{child_id},"method":"subscriptions/listen",'
        f'"params":{{"notifications":{{{wanted}}},$META}}}}\n'
    )


def resources(*uris: str) -> str:
    """The part of a filter that is about single resources."""
    return f'"resourceSubscriptions":{json.dumps(uris)}'


def watching(child_id: int, *uris: str) -> str:
    """The same for resources."""
    return listen(child_id, resources(*uris))


def tag(id: int | str) -> str:
    """The `_meta` of what belongs to a stream."""
    return f'"_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}'


def acknowledge(id: int | str, honoured: str) -> str:
    """The child says what it will tell of."""
    return (
        'child > {"method":"notifications/subscriptions/acknowledged",'
        f'"params":{{"notifications":{{{honoured}}},{tag(id)}}}}}\n'
    )


def watched(id: int | str, *uris: str) -> str:
    """The same for resources."""
    return acknowledge(id, resources(*uris))


def subscribe(id: str, uri: str) -> str:
    """The host wants to hear of a resource."""
    return f'host  > {{"id":{id},"method":"resources/subscribe","params":{{"uri":"{uri}"}}}}\n'


def unsubscribe(id: str, uri: str) -> str:
    """Or no more; that is answered at once."""
    line = subscribe(id, uri).replace("resources/subscribe", "resources/unsubscribe")
    return line + ok(id)


def ok(*ids: str) -> str:
    """The host has what it wanted."""
    return "".join(f'host  < {{"id":{id},"result":{{}}}}\n' for id in ids)


def left_out(id: str, uri: str) -> str:
    """The host hears that the child will not tell."""
    return (
        f'host  < {{"id":{id},"error":{{"code":-32602,'
        '"message":"The server does not tell of changes of this resource",'
        f'"data":{{"uri":"{uri}"}}}}}}\n'
    )


def updated(uri: str, id: int | str | None, *, passes: bool = True) -> str:
    """A resource has changed."""
    method = '"method":"notifications/resources/updated"'
    more = "" if id is None else f",{tag(id)}"
    line = f'child > {{{method},"params":{{"uri":"{uri}"{more}}}}}\n'
    return line + (told(uri) if passes else "")


def told(*uris: str) -> str:
    """The host hears of it."""
    return "".join(
        f'host  < {{"method":"notifications/resources/updated","params":{{"uri":"{uri}"}}}}\n'
        for uri in uris
    )


def changed(method: str, id: int | str | None, *, passes: bool = True) -> str:
    """A list has changed."""
    params = "" if id is None else f',"params":{{{tag(id)}}}'
    line = f'child > {{"method":"{method}"{params}}}\n'
    return line + (f'host  < {{"method":"{method}"}}\n' if passes else "")


def over(id: int | str) -> str:
    """The child ends a stream, with an answer."""
    return f'child > {{"id":{id},"result":{{"resultType":"complete",{tag(id)}}}}}\n'


def over_too(id: int | str) -> str:
    """The other way to say it."""
    return f'child > {{"method":"notifications/cancelled","params":{{"requestId":{id}}}}}\n'


def refused(id: int, error: str) -> str:
    """The child will have no stream."""
    return f'child > {{"id":{id},"error":{error}}}\n'


BASE = opening(offers=WATCHABLE) + INITIALIZED + listen(FIRST, ALL)
A = JOINED_TO_RESOURCES + subscribe("1", "x:a") + watching(FIRST, "x:a")
"""One resource is asked for."""
LIVE = A + watched(FIRST, "x:a") + ok("1")
"""It is watched."""
