"""Dialogues of a host and a server of two eras, which are the same with one bridge and with more.

Every line that comes of another stands below it, as one bridge makes it; the names are those of
chains.py. Spec 2026-07-28 and 2025-11-25.
"""

from typing import Final

from round_trips import Feature

_OFFERS: Final = (
    '{"tools":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},"logging":{}}'
)
_FORM: Final = (
    '"elicitation/create","params":{"mode":"form","message":"Who?","requestedSchema":{"x":1.50}}'
)
_SAMPLE: Final = '"sampling/createMessage","params":{"messages":[],"maxTokens":9}'
_ACCEPT: Final = '{"action":"accept","content":{"n":"Ada"}}'
_SAID: Final = '{"role":"assistant","content":{"type":"text","text":"Ho"},"model":"m"}'

_TO_LEGACY: Final = f"""
host   > {{"id":"d","method":"server/discover","params":{{$FULL}}}}
server < {{"id":"i","method":"initialize","params":{{"protocolVersion":"2025-11-25","capabilities":
         {{"roots":{{"listChanged":true}},"sampling":{{"context":{{}},"tools":{{}}}},
         "elicitation":{{"form":{{}},"url":{{}}}}}},"clientInfo":{{"name":"host","version":"2"}}}}}}
server > {{"id":"i","result":{{"protocolVersion":"2025-11-25","capabilities":{_OFFERS},
         "serverInfo":{{"name":"old","version":"1"}},"instructions":"I"}}}}
server < {{"method":"notifications/initialized"}}
host   < {{"id":"d","result":{{"supportedVersions":["2026-07-28"],"capabilities":{_OFFERS},
         "instructions":"I",$LISTED}}}}
"""


def _to_modern(offers: str) -> tuple[str, str, str]:
    """The handshake: what the host asks, what the server says, what the host gets."""
    return (
        """
host   > {"id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":
         {"roots":{"listChanged":true},"sampling":{"context":{},"tools":{}},
         "elicitation":{"form":{},"url":{}}},"clientInfo":{"name":"host","version":"2"}}}
server < {"id":"d","method":"server/discover","params":{$FULL}}
""",
        f"""
server > {{"id":"d","result":{{"supportedVersions":["2026-07-28"],"capabilities":{offers},
         "instructions":"I",$LISTED}}}}
""",
        f"""
host   < {{"id":0,"result":{{"protocolVersion":"2025-11-25","capabilities":{offers},
         "serverInfo":{{"name":"old","version":"1"}},"instructions":"I"}}}}
""",
    )


_INITIALIZED: Final = """
host   > {"method":"notifications/initialized"}
"""
_LISTENED_TO: Final = """
server < {"id":"base","method":"subscriptions/listen","params":{"notifications":
         {"toolsListChanged":true,"resourcesListChanged":true},$FULL}}
"""
_ACKNOWLEDGED: Final = """
server > {"method":"notifications/subscriptions/acknowledged","params":{"notifications":
         {"toolsListChanged":true,"resourcesListChanged":true},
         "_meta":{"io.modelcontextprotocol/subscriptionId":"base"}}}
nothing
"""


def _legacy(name: str, script: str) -> Feature:
    return Feature(name, script, opening=_TO_LEGACY)


MODERN_TO_LEGACY: Final = (
    _legacy(
        "a list and a call",
        """
host   > {"id":0,"method":"tools/list","params":{$FULL}}
server < {"id":0,"method":"tools/list"}
server > {"id":0,"result":{"tools":[{"name":"t","inputSchema":{"type":"object"},"x/new":1.50}]}}
host   < {"id":0,"result":{"tools":[{"name":"t","inputSchema":{"type":"object"},"x/new":1.50}],
         $LISTED}}
host   > {"id":"a","method":"tools/call","params":{"name":"t","arguments":{"n":1e400},$FULL}}
server < {"id":"a","method":"tools/call","params":{"name":"t","arguments":{"n":1e400}}}
server > {"id":"a","result":{"content":[],"structuredContent":{"n":12345678901234567890}}}
host   < {"id":"a","result":{"content":[],"structuredContent":{"n":12345678901234567890},$DONE}}
""",
    ),
    _legacy(
        "progress and a cancellation",
        """
host   > {"id":1,"method":"tools/call","params":{"name":"t","_meta":{"progressToken":"p",
         "io.modelcontextprotocol/protocolVersion":"2026-07-28",
         "io.modelcontextprotocol/clientInfo":{"name":"host","version":"2"},
         "io.modelcontextprotocol/clientCapabilities":{"roots":{},"sampling":{"context":{},
         "tools":{}},"elicitation":{"form":{},"url":{}}}}}}
server < {"id":1,"method":"tools/call","params":{"name":"t","_meta":{"progressToken":"p"}}}
server > {"method":"notifications/progress","params":{"progressToken":"p","progress":0.50}}
host   > {"method":"notifications/cancelled","params":{"requestId":1,"reason":"r"}}
server > {"id":1,"result":{"content":[]}}
nothing
""",
    ),
    _legacy(
        "log messages",
        """
host   > {"id":1,"method":"tools/call","params":{"name":"t","_meta":{
         "io.modelcontextprotocol/logLevel":"info",
         "io.modelcontextprotocol/protocolVersion":"2026-07-28",
         "io.modelcontextprotocol/clientInfo":{"name":"host","version":"2"},
         "io.modelcontextprotocol/clientCapabilities":{"roots":{},"sampling":{"context":{},
         "tools":{}},"elicitation":{"form":{},"url":{}}}}}}
server < {"id":"s","method":"logging/setLevel","params":{"level":"info"}}
server > {"id":"s","result":{}}
server < {"id":1,"method":"tools/call","params":{"name":"t"}}
server > {"method":"notifications/message","params":{"level":"info","data":[1.50]}}
server > {"id":1,"result":{"content":[]}}
host   < {"id":1,"result":{"content":[],$DONE}}
server > {"method":"notifications/message","params":{"level":"info","data":"late"}}
nothing
""",
    ),
    _legacy(
        "errors",
        """
host   > {"id":1,"method":"resources/read","params":{"uri":"x:no",$FULL}}
server < {"id":1,"method":"resources/read","params":{"uri":"x:no"}}
server > {"id":1,"error":{"code":-32002,"message":"Gone","data":{"uri":"x:no","x":[1.50]}}}
host   < {"id":1,"error":{"code":-32602,"message":"Gone","data":{"uri":"x:no","x":[1.50]}}}
host   > {"id":2,"method":"example.com/do","params":{$FULL}}
server < {"id":2,"method":"example.com/do"}
server > {"id":2,"error":{"code":-5,"message":"No","data":null}}
""",
    ),
    _legacy(
        "questions of a call, twice",
        f"""
host   > {{"id":1,"method":"tools/call","params":{{"name":"t",$FULL}}}}
server < {{"id":1,"method":"tools/call","params":{{"name":"t"}}}}
server > {{"id":7,"method":{_FORM}}}
host   < {{"id":1,"result":{{"resultType":"input_required","inputRequests":
         {{"7":{{"method":{_FORM}}}}},
         "requestState":"s1",$IDENTITY}}}}
host   > {{"id":2,"method":"tools/call","params":{{"name":"t","requestState":"s1",
         "inputResponses":{{"7":{_ACCEPT}}},$FULL}}}}
server < {{"id":7,"result":{_ACCEPT}}}
server > {{"id":8,"method":{_SAMPLE}}}
host   < {{"id":2,"result":{{"resultType":"input_required","inputRequests":
         {{"8":{{"method":{_SAMPLE}}}}},
         "requestState":"s2",$IDENTITY}}}}
host   > {{"id":3,"method":"tools/call","params":{{"name":"t","requestState":"s2",
         "inputResponses":{{"8":{_SAID}}},$FULL}}}}
server < {{"id":8,"result":{_SAID}}}
server > {{"id":1,"result":{{"content":[]}}}}
host   < {{"id":3,"result":{{"content":[],$DONE}}}}
""",
    ),
    _legacy(
        "changes",
        """
host   > {"id":"l","method":"subscriptions/listen","params":{"notifications":
         {"toolsListChanged":true,"resourceSubscriptions":["x:a"]},$FULL}}
server < {"id":"u","method":"resources/subscribe","params":{"uri":"x:a"}}
server > {"id":"u","result":{}}
host   < {"method":"notifications/subscriptions/acknowledged","params":{"notifications":
         {"toolsListChanged":true,"resourceSubscriptions":["x:a"]},
         "_meta":{"io.modelcontextprotocol/subscriptionId":"l"}}}
server > {"method":"notifications/tools/list_changed"}
host   < {"method":"notifications/tools/list_changed","params":{
         "_meta":{"io.modelcontextprotocol/subscriptionId":"l"}}}
server > {"method":"notifications/resources/list_changed"}
nothing
server > {"method":"notifications/resources/updated","params":{"uri":"x:a","x/new":1.50}}
host   < {"method":"notifications/resources/updated","params":{"uri":"x:a","x/new":1.50,
         "_meta":{"io.modelcontextprotocol/subscriptionId":"l"}}}
host   > {"method":"notifications/cancelled","params":{"requestId":"l"}}
server < {"id":"v","method":"resources/unsubscribe","params":{"uri":"x:a"}}
""",
    ),
)


def _modern(name: str, script: str) -> Feature:
    return Feature(
        name, script, opening="".join(_to_modern('{"tools":{},"resources":{},"logging":{}}'))
    )


LEGACY_TO_MODERN: Final = (
    _modern(
        "a list and a call",
        """
host   > {"id":7,"method":"tools/list"}
server < {"id":7,"method":"tools/list","params":{$FULL}}
server > {"id":7,"result":{"tools":[{"name":"t","inputSchema":{"type":"object"},"x/new":1.50}],
         $LISTED}}
host   < {"id":7,"result":{"tools":[{"name":"t","inputSchema":{"type":"object"},"x/new":1.50}]}}
host   > {"id":"a","method":"tools/call","params":{"name":"t","arguments":{"n":1e400}}}
server < {"id":"a","method":"tools/call","params":{"name":"t","arguments":{"n":1e400},$FULL}}
server > {"id":"a","result":{"content":[],"structuredContent":{"n":12345678901234567890},$DONE}}
host   < {"id":"a","result":{"content":[],"structuredContent":{"n":12345678901234567890}}}
""",
    ),
    _modern(
        "progress and a cancellation",
        """
host   > {"id":1,"method":"tools/call","params":{"name":"t","_meta":{"progressToken":"p"}}}
server < {"id":1,"method":"tools/call","params":{"name":"t","_meta":{"progressToken":"p",
         "io.modelcontextprotocol/protocolVersion":"2026-07-28",
         "io.modelcontextprotocol/clientInfo":{"name":"host","version":"2"},
         "io.modelcontextprotocol/clientCapabilities":{"roots":{},"sampling":{"context":{},
         "tools":{}},"elicitation":{"form":{},"url":{}}}}}}
server > {"method":"notifications/progress","params":{"progressToken":"p","progress":0.50}}
host   > {"method":"notifications/cancelled","params":{"requestId":1,"reason":"r"}}
""",
    ),
    _modern(
        "log messages",
        """
host   > {"id":0,"method":"logging/setLevel","params":{"level":"info"}}
host   < {"id":0,"result":{}}
host   > {"id":1,"method":"tools/call","params":{"name":"t"}}
server < {"id":1,"method":"tools/call","params":{"name":"t","_meta":{
         "io.modelcontextprotocol/logLevel":"info",
         "io.modelcontextprotocol/protocolVersion":"2026-07-28",
         "io.modelcontextprotocol/clientInfo":{"name":"host","version":"2"},
         "io.modelcontextprotocol/clientCapabilities":{"roots":{},"sampling":{"context":{},
         "tools":{}},"elicitation":{"form":{},"url":{}}}}}}
server > {"method":"notifications/message","params":{"level":"info","data":[1.50]}}
server > {"id":1,"result":{"content":[],$DONE}}
host   < {"id":1,"result":{"content":[]}}
""",
    ),
    _modern(
        "errors",
        """
host   > {"id":1,"method":"resources/read","params":{"uri":"x:no"}}
server < {"id":1,"method":"resources/read","params":{"uri":"x:no",$FULL}}
server > {"id":1,"error":{"code":-32602,"message":"Gone","data":{"uri":"x:no","x":[1.50]}}}
host   < {"id":1,"error":{"code":-32002,"message":"Gone","data":{"uri":"x:no","x":[1.50]}}}
host   > {"id":2,"method":"example.com/do"}
server < {"id":2,"method":"example.com/do","params":{$FULL}}
server > {"id":2,"error":{"code":-5,"message":"No","data":null}}
""",
    ),
    _modern(
        "questions of a call, twice",
        f"""
host   > {{"id":1,"method":"tools/call","params":{{"name":"t"}}}}
server < {{"id":1,"method":"tools/call","params":{{"name":"t",$FULL}}}}
server > {{"id":1,"result":{{"resultType":"input_required","inputRequests":
         {{"k":{{"method":{_FORM}}}}},
         "requestState":"s1",$IDENTITY}}}}
host   < {{"id":"q","method":{_FORM}}}
host   > {{"id":"q","result":{_ACCEPT}}}
server < {{"id":"r1","method":"tools/call","params":{{"name":"t","requestState":"s1",
         "inputResponses":{{"k":{_ACCEPT}}},$FULL}}}}
server > {{"id":"r1","result":{{"resultType":"input_required","inputRequests":
         {{"a":{{"method":{_SAMPLE}}},"b":{{"method":{_FORM}}}}},"requestState":"s2",$IDENTITY}}}}
host   < {{"id":"qa","method":{_SAMPLE}}}
host   < {{"id":"qb","method":{_FORM}}}
host   > {{"id":"qb","result":{_ACCEPT}}}
nothing
host   > {{"id":"qa","result":{_SAID}}}
server < {{"id":"r2","method":"tools/call","params":{{"name":"t","requestState":"s2",
         "inputResponses":{{"a":{_SAID},"b":{_ACCEPT}}},$FULL}}}}
server > {{"id":"r2","result":{{"content":[],$DONE}}}}
host   < {{"id":1,"result":{{"content":[]}}}}
""",
    ),
)


_ASK, _SAY, _GET = _to_modern(_OFFERS)
_CHANGES: Final = """
server > {"method":"notifications/tools/list_changed","params":{"x/new":1.50,
         "_meta":{"io.modelcontextprotocol/subscriptionId":"base"}}}
host   < {"method":"notifications/tools/list_changed","params":{"x/new":1.50}}
host   > {"id":1,"method":"resources/subscribe","params":{"uri":"x:a"}}
server < {"id":"u","method":"subscriptions/listen","params":{"notifications":
         {"resourceSubscriptions":["x:a"]},$FULL}}
server > {"method":"notifications/subscriptions/acknowledged","params":{"notifications":
         {"resourceSubscriptions":["x:a"]},"_meta":{"io.modelcontextprotocol/subscriptionId":"u"}}}
host   < {"id":1,"result":{}}
server > {"method":"notifications/resources/updated","params":{"uri":"x:a",
         "_meta":{"io.modelcontextprotocol/subscriptionId":"u","example.com/a":1}}}
host   < {"method":"notifications/resources/updated","params":{"uri":"x:a",
         "_meta":{"example.com/a":1}}}
host   > {"id":2,"method":"resources/unsubscribe","params":{"uri":"x:a"}}
server < {"method":"notifications/cancelled","params":{"requestId":"u"}}
host   < {"id":2,"result":{}}
"""
CHANGES: Final = _ASK + _SAY + _GET + _INITIALIZED + _LISTENED_TO + _ACKNOWLEDGED + _CHANGES
"""Changes, from a modern server to a legacy host."""
CHANGES_BY_THREE: Final = (
    _ASK + _SAY + _LISTENED_TO + _GET + _ACKNOWLEDGED + _INITIALIZED + "nothing\n" + _CHANGES
)
"""The same where the last bridge has no legacy host before it: it listens without being told."""
