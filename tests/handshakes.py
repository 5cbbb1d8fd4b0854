"""Lines of conversations of a legacy host with a modern child, for the tables of several tests.

The host calls itself what a modern one does in conversation.py: so `$META` and `$FULL` are the
`_meta` of what the child gets.
"""

from conversation import EVERYTHING, FIRST_ID, meta

ASKABLE = (
    '{"roots":{"listChanged":true},"sampling":{"context":{},"tools":{}},'
    '"elicitation":{"form":{},"url":{}}}'
)
"""The capabilities of a legacy host that can be asked anything; the child hears EVERYTHING."""

FIRST = FIRST_ID + 1
"""The id of the first request to the child after the probe."""

WATCHABLE = (
    '{"tools":{"listChanged":true},"prompts":{"listChanged":true},'
    '"resources":{"listChanged":true,"subscribe":true}}'
)


def opening(
    capabilities: str = "{}",
    *,
    version: str = "2025-11-25",
    offers: str = '{"tools":{}}',
    told: str | None = None,
    id: str = "0",
) -> str:
    """A legacy host of `version` that declares `capabilities` (the child hears `told`, if that is
    not the same) is joined to a modern child that offers `offers`; `initialized` is yet to come."""
    if told is None:
        told = EVERYTHING if capabilities == ASKABLE else capabilities
    initialize = (
        f'{{"id":{id},"method":"initialize","params":{{"protocolVersion":"{version}",'
        f'"capabilities":{capabilities},"clientInfo":{{"name":"host","version":"2"}}}}}}'
    )
    return f"""
host  > {initialize}
child < {initialize}
child > {{"id":{id},"error":{{"code":-32601,"message":"Method not found"}}}}
child < {{"id":$PROBE,"method":"server/discover","params":{{{meta(told)}}}}}
child > {{"id":$PROBE,"result":{{"resultType":"complete","supportedVersions":["2026-07-28"],
        "capabilities":{offers},"ttlMs":0,"cacheScope":"private",$IDENTITY}}}}
host  < {{"id":{id},"result":{{"protocolVersion":"{version}","capabilities":{offers},
         "serverInfo":{{"name":"old","version":"1"}}}}}}
"""


INITIALIZED = 'host > {"method":"notifications/initialized"}\n'

JOINED = opening() + INITIALIZED
"""A legacy host that can be asked nothing, joined to a modern child."""

ASKED_JOINED = opening(ASKABLE) + INITIALIZED
"""One that can be asked anything."""


def request(id: str, child_id: int, method: str, params: str = "", envelope: str = "$META") -> str:
    """The host asks for something, and the child gets it."""
    mine = f',"params":{{{params}}}' if params else ""
    comma = "," if params else ""
    return (
        f'host  > {{"id":{id},"method":"{method}"{mine}}}\n'
        f'child < {{"id":{child_id},"method":"{method}","params":{{{params}{comma}{envelope}}}}}\n'
    )


def call(id: str, child_id: int, name: str = "t", envelope: str = "$FULL") -> str:
    """The host calls the tool `name`."""
    return request(id, child_id, "tools/call", f'"name":"{name}"', envelope)


def done(child_id: int, id: str, content: str = "[]") -> str:
    """The child answers a call, and the host gets the answer."""
    return (
        f'child > {{"id":{child_id},"result":{{"resultType":"complete","content":{content}}}}}\n'
        f'host  < {{"id":{id},"result":{{"content":{content}}}}}\n'
    )


def failed(id: str, message: str, reason: str, more: str = "", code: int = -32603) -> str:
    """The host gets an error of the bridge's own."""
    return (
        f'host  < {{"id":{id},"error":{{"code":{code},"message":"{message}",'
        f'"data":{{"source":"mcp-bridge","reason":"{reason}"{more}}}}}}}\n'
    )


def wants(child_id: int, entries: str | None, state: str | None = '"s"') -> str:
    """The child answers a call that it wants input; what comes of it follows."""
    members = [] if entries is None else [f'"inputRequests":{{{entries}}}']
    members += [] if state is None else [f'"requestState":{state}']
    return (
        f'child > {{"id":{child_id},"result":{{"resultType":"input_required",'
        + ",".join(members)
        + "}}\n"
    )


def asked(id: str, question: str) -> str:
    """The host is asked."""
    return f'host  < {{"id":"{id}",{question}}}\n'


def answers(id: str, answer: str) -> str:
    """The host answers."""
    return f'host  > {{"id":"{id}","result":{answer}}}\n'


def refuses(id: str, error: str = '{"code":-1,"message":"User rejected"}') -> str:
    """The host answers with an error."""
    return f'host  > {{"id":"{id}","error":{error}}}\n'


def again(
    child_id: int,
    responses: str | None,
    state: str | None = '"s"',
    *,
    name: str = "t",
    envelope: str = "$FULL",
) -> str:
    """The call is made again."""
    more = "" if responses is None else f',"inputResponses":{{{responses}}}'
    more += "" if state is None else f',"requestState":{state}'
    return (
        f'child < {{"id":{child_id},"method":"tools/call",'
        f'"params":{{"name":"{name}"{more},{envelope}}}}}\n'
    )


def cancel(id: str) -> str:
    """The host does not want an answer any more."""
    return f'host  > {{"method":"notifications/cancelled","params":{{"requestId":{id}}}}}\n'


def cancelled(child_id: int) -> str:
    """Neither does the child's client."""
    return f'child < {{"method":"notifications/cancelled","params":{{"requestId":{child_id}}}}}\n'


def withdrawn(id: str) -> str:
    """A question is of no interest to the child any more."""
    return f'host  < {{"method":"notifications/cancelled","params":{{"requestId":"{id}"}}}}\n'
