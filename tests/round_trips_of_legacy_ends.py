"""What becomes of each feature between a legacy host and a legacy server, with two bridges between.

The first bridge takes what is behind it for a modern server, the second is that server: everything
is translated there and back. How a dialogue is written is told in chains.py; what stands below a
line is what differs. Spec 2025-11-25; the losses name the clause that makes them.
"""

from typing import Final

from conversation import EVERYTHING
from round_trips import Feature

_CLIENT: Final = EVERYTHING.replace('"roots":{}', '"roots":{"listChanged":true}')
_HOST: Final = '"clientInfo":{"name":"h","version":"1"}'
_SERVER: Final = '"serverInfo":{"name":"s","version":"1"}'
_OFFERS: Final = (
    '{"tools":{"listChanged":true},"prompts":{"listChanged":true},"resources":{"subscribe":true,'
    '"listChanged":true},"logging":{},"completions":{}}'
)


def opening(
    offers: str = _OFFERS,
    *,
    declares: str = _CLIENT,
    host: str = _HOST,
    server: str = _SERVER,
    version: str = "2025-11-25",
) -> str:
    """The handshake. The second bridge says itself that it is initialized."""
    result = f'"protocolVersion":"{version}","capabilities":{offers},{server}'
    return f"""
host   > {{"id":0,"method":"initialize","params":{{"protocolVersion":"{version}",
         "capabilities":{declares},{host}}}}}
server > {{"id":0,"result":{{{result}}}}}
server < {{"method":"notifications/initialized"}}
host   < {{"id":0,"result":{{{result}}}}}
host   > {{"method":"notifications/initialized"}}
nothing
"""


_OPEN: Final = opening()

_FORM: Final = """"elicitation/create","params":{"mode":"form","message":"Who?",
    "requestedSchema":{"type":"object","properties":{"n":{"type":"string","x-y":[1.50]}}}}"""
_URL: Final = """"elicitation/create","params":{"mode":"url","message":"Sign in",
    "url":"https://example.com/in","elicitationId":"e"}"""
_SAMPLE: Final = """"sampling/createMessage","params":{"messages":[{"role":"user",
    "content":[{"type":"text","text":"Hi"},{"type":"text","text":"Ho"}]}],"maxTokens":9,
    "tools":[{"name":"t","inputSchema":{"type":"object"}}],"includeContext":"thisServer",
    "modelPreferences":{"hints":[{"name":"m"}],"costPriority":0.10},"x/new":true}"""
_ROOTS: Final = '"roots/list","params":{}'
_ACCEPT: Final = '{"action":"accept","content":{"n":"Ada","x":1.50},"_meta":{"example.com/a":1}}'
_SAID: Final = """{"role":"assistant","content":[{"type":"tool_use","id":"u","name":"t",
    "input":{}}],"model":"m","stopReason":"toolUse","x/new":[]}"""
_TOLD: Final = '{"roots":[{"uri":"file:///a","name":"A","_meta":{"example.com/a":1}}]}'
_CALL: Final = """
host   > {"id":1,"method":"tools/call","params":{"name":"t","arguments":{}}}
"""
_DONE: Final = """
server > {"id":1,"result":{"content":[]}}
"""


def _feature(name: str, script: str, loss: str = "", clause: str = "") -> Feature:
    return Feature(name, script, loss, clause, _OPEN)


def _asks(id: str, question: str, answer: str) -> str:
    return f"""
server > {{"id":{id},"method":{question}}}
host   > {{"id":{id},"result":{answer}}}
"""


def _request(method: str, params: str, result: str) -> str:
    return f"""
host   > {{"id":1,"method":"{method}"{params and ',"params":' + params}}}
server > {{"id":1,"result":{result}}}
"""


_SUBSCRIBED: Final = """
host   > {"id":1,"method":"resources/subscribe","params":{"uri":"x:a"}}
server > {"id":1,"result":{}}
"""
_LEVEL: Final = """
host   > {"id":"l","method":"logging/setLevel","params":{"level":"info"}}
host   < {"id":"l","result":{}}
"""

FEATURES: Final = (
    # Opening
    Feature(
        "capabilities, known and unknown",
        "",
        opening=opening(
            '{"tools":{"x/new":1},"prompts":{},"resources":{"subscribe":true},"completions":{},'
            '"logging":{},"experimental":{"a":{"b":[1.50]}},"extensions":{"example.com/e":{"v":2}},'
            '"example.com/more":{"deep":{"er":null}}}'
        ),
    ),
    Feature(
        "instructions",
        "",
        opening=opening(server=_SERVER + r',"instructions":"Use \"echo\" first.\n字"'),
    ),
    Feature(
        "serverInfo with title, icons and more",
        "",
        opening=opening(
            server=(
                '"serverInfo":{"name":"n","version":"1","title":"T","description":"D","websiteUrl":'
                '"https://example.com","icons":[{"src":"data:,","sizes":["48x48"],"theme":"dark"}],'
                '"x/new":{}},"_meta":{"example.com/a":{"b":1}}'
            )
        ),
    ),
    Feature(
        "clientInfo and capabilities of the host, known and unknown",
        "",
        opening=opening(
            host='"clientInfo":{"name":"h","version":"1","title":"T","icons":[{"src":"data:,"}],'
            '"x/new":1.50}',
            declares='{"roots":{"listChanged":true},"sampling":{"tools":{}},"elicitation":{"form":{}},'
            '"experimental":{"a":1},"extensions":{"example.com/e":{}},"example.com/more":[]}',
        ),
    ),
    Feature(
        "tasks in capabilities",
        """
host   > {"id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":
         {"tasks":{"list":{}}},"clientInfo":{"name":"h","version":"1"}}}
server < {"id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":
         {},"clientInfo":{"name":"h","version":"1"}}}
server > {"id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tasks":{"list":{}}},
         "serverInfo":{"name":"s","version":"1"}}}
server < {"method":"notifications/initialized"}
host   < {"id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{},
         "serverInfo":{"name":"s","version":"1"}}}
""",
        "neither end hears that the other has tasks",
        "2026-07-28 has no tasks of this kind (its extension is another protocol)",
    ),
    Feature(
        "other members of `initialize` and of its result",
        """
host   > {"id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},
         "clientInfo":{"name":"h","version":"1"},"x/new":1,"_meta":{"example.com/a":1}}}
server < {"id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},
         "clientInfo":{"name":"h","version":"1"}}}
server > {"id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{},"x/new":1,
         "serverInfo":{"name":"s","version":"1"}}}
server < {"method":"notifications/initialized"}
host   < {"id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{},
         "serverInfo":{"name":"s","version":"1"}}}
""",
        "they do not pass; `_meta` of the result does",
        "2026-07-28 basic (Per-request protocol fields): there is no handshake to carry them",
    ),
    Feature(
        "an older revision",
        """
host   > {"id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},
         "clientInfo":{"name":"h","version":"1"}}}
server < {"id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},
         "clientInfo":{"name":"h","version":"1"}}}
server > {"id":0,"result":{"protocolVersion":"2025-03-26","capabilities":{},
         "serverInfo":{"name":"s","version":"1"}}}
server < {"method":"notifications/initialized"}
host   < {"id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{},
         "serverInfo":{"name":"s","version":"1"}}}
""",
        "each end speaks the revision that it can; neither hears of the other's",
        "2026-07-28 basic/versioning: there is one revision between the two bridges",
    ),
    # Requests
    _feature(
        "tools/list",
        _request(
            "tools/list",
            '{"cursor":""}',
            """
        {"tools":[{"name":"t","title":"T","description":"D","inputSchema":{"type":"object",
        "oneOf":[{"x":1e400}],"$defs":{}},"outputSchema":{"type":"object"},"annotations":
        {"readOnlyHint":true},"icons":[{"src":"data:,"}],"_meta":{"example.com/a":1},"x/new":0}],
        "nextCursor":"c","x/new":1.50}""",
        ),
    ),
    _feature(
        "`execution` of a tool",
        """
host   > {"id":1,"method":"tools/list"}
server > {"id":1,"result":{"tools":[{"name":"t","inputSchema":{"type":"object"},"execution":
         {"taskSupport":"forbidden"}}]}}
host   < {"id":1,"result":{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}}
""",
        "the tool comes without it",
        "2026-07-28 server/tools: no such member, as there are no tasks",
    ),
    _feature(
        "prompts/list, prompts/get",
        _request(
            "prompts/list",
            "",
            """
        {"prompts":[{"name":"p","title":"T","arguments":[{"name":"a","required":true}],
        "icons":[]}],"nextCursor":"c"}""",
        )
        + """
host   > {"id":2,"method":"prompts/get","params":{"name":"p","arguments":{"a":"b"}}}
server > {"id":2,"result":{"description":"D","messages":[{"role":"user","content":{"type":"text",
         "text":"t","annotations":{"priority":0.50}}}]}}
""",
    ),
    _feature(
        "resources/list, templates, resources/read",
        _request(
            "resources/list",
            "",
            """
        {"resources":[{"uri":"x:a","name":"a","size":12345678901234567890,"annotations":
        {"lastModified":"2026-01-01T00:00:00Z"}}]}""",
        )
        + """
host   > {"id":2,"method":"resources/templates/list"}
server > {"id":2,"result":{"resourceTemplates":[{"uriTemplate":"x:{a}","name":"a"}]}}
host   > {"id":3,"method":"resources/read","params":{"uri":"x:a"}}
server > {"id":3,"result":{"contents":[{"uri":"x:a","text":"字"},{"uri":"x:b","blob":"AA==",
         "mimeType":"a/b","_meta":{"example.com/a":1}}]}}
""",
    ),
    _feature(
        "completion/complete",
        _request(
            "completion/complete",
            """
        {"ref":{"type":"ref/prompt","name":"p","title":"T"},"argument":{"name":"a","value":"b"},
        "context":{"arguments":{"c":"d"}}}""",
            """
        {"completion":{"values":["bc"],"total":7,"hasMore":true}}""",
        ),
    ),
    _feature("an unknown method", _request("example.com/do", '{"x":[1.50,null]}', '{"y":1e400}')),
    _feature(
        "unknown params, `_meta` of others and trace context",
        """
host   > {"id":1,"method":"tools/call","params":{"name":"t","arguments":{"n":123456789012345678901,
         "f":1.50},"x/new":{},"_meta":{"example.com/a":{"b":1.50},"traceparent":
         "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01","tracestate":"a=b",
         "baggage":"c=d"}}}
server > {"id":1,"result":{"content":[],"_meta":{"example.com/a":[2]},"x/new":1.50}}
""",
    ),
    _feature(
        "members that are empty",
        """
host   > {"id":1,"method":"tools/list","params":{"_meta":{}}}
server < {"id":1,"method":"tools/list"}
server > {"id":1,"result":{"tools":[],"_meta":{}}}
host   < {"id":1,"result":{"tools":[]}}
""",
        "an empty `_meta`, and `params` that have nothing else, do not pass",
        "2026-07-28 basic (`_meta`): on the way they are never empty",
    ),
    _feature(
        "ids 0, negative and of text; several at once, out of order",
        """
host   > {"id":0,"method":"tools/list"}
host   > {"id":"0","method":"tools/list"}
host   > {"id":-7,"method":"prompts/list"}
server > {"id":-7,"result":{"prompts":[]}}
server > {"id":"0","result":{"tools":[]}}
server > {"id":0,"result":{"tools":[]}}
""",
    ),
    _feature(
        "`ping` of either end",
        """
host   > {"id":1,"method":"ping"}
host   < {"id":1,"result":{}}
server > {"id":1,"method":"ping"}
server < {"id":1,"result":{}}
""",
        "each bridge answers it for the other end",
        "2026-07-28: there is no ping",
    ),
    # Results and errors
    _feature(
        "content of every kind",
        _request(
            "tools/call",
            '{"name":"t","arguments":{}}',
            """
        {"content":[{"type":"text","text":"字 \\u2028","annotations":{"audience":["user"]}},
        {"type":"image","data":"AA==","mimeType":"i/p"},{"type":"audio","data":"AA==",
        "mimeType":"a/w"},{"type":"resource_link","uri":"x:a","name":"a"},{"type":"resource",
        "resource":{"uri":"x:a","text":"t"}},{"type":"x/new","deep":[1.50]}],"isError":true}""",
        ),
    ),
    _feature(
        "structuredContent",
        _request(
            "tools/call",
            '{"name":"t"}',
            """
        {"content":[{"type":"text","text":"{}"}],"structuredContent":{"n":1.50,"d":[null]}}""",
        ),
    ),
    _feature(
        "errors with code, message and data",
        """
host   > {"id":1,"method":"tools/call","params":{"name":"t"}}
server > {"id":1,"error":{"code":-32602,"message":"No","data":{"a":[1.50],"b":null}}}
host   > {"id":2,"method":"tools/call","params":{"name":"t"}}
server > {"id":2,"error":{"code":-32000,"message":"No","data":"text"}}
host   > {"id":3,"method":"prompts/get","params":{"name":"p"}}
server > {"id":3,"error":{"code":-32603,"message":"No"}}
host   > {"id":4,"method":"example.com/do"}
server > {"id":4,"error":{"code":-32601,"message":"No","x/new":1}}
host   > {"id":5,"method":"tools/call","params":{"name":"t"}}
server > {"id":5,"error":{"code":7,"message":""}}
""",
    ),
    _feature(
        "-32002, a resource that is not there",
        """
host   > {"id":1,"method":"resources/read","params":{"uri":"x:no"}}
server > {"id":1,"error":{"code":-32002,"message":"Gone","data":{"uri":"x:no","x":1}}}
""",
    ),
    _feature(
        "-32002 without its `data`",
        """
host   > {"id":1,"method":"resources/read","params":{"uri":"x:no"}}
server > {"id":1,"error":{"code":-32002,"message":"Gone"}}
host   < {"id":1,"error":{"code":-32002,"message":"Gone","data":{"uri":"x:no"}}}
""",
        "the URI comes in `data`",
        "2026-07-28 server/resources (Error Handling)",
    ),
    _feature(
        "-32042, a URL that has to be visited first",
        """
host   > {"id":1,"method":"tools/call","params":{"name":"t"}}
server > {"id":1,"error":{"code":-32042,"message":"Sign in","data":{"elicitations":[{"mode":"url",
         "message":"m","url":"https://example.com/in","elicitationId":"e"}]}}}
host   < {"id":"q","method":"elicitation/create","params":{"mode":"url","message":"m",
         "url":"https://example.com/in","elicitationId":"e"}}
host   > {"id":"q","result":{"action":"accept"}}
nothing
server > {"method":"notifications/elicitation/complete","params":{"elicitationId":"e"}}
server < {"id":"again","method":"tools/call","params":{"name":"t"}}
server > {"id":"again","result":{"content":[]}}
host   < {"method":"notifications/elicitation/complete","params":{"elicitationId":"e"}}
host   < {"id":1,"result":{"content":[]}}
""",
        "the host is asked to visit it, and the call is made again for it",
        "2026-07-28 basic (Error Codes): the code is removed",
    ),
    # While a request is open
    _feature(
        "progress: value, total, message and more",
        """
host   > {"id":1,"method":"tools/call","params":{"name":"t","_meta":{"progressToken":"p"}}}
server > {"method":"notifications/progress","params":{"progressToken":"p","progress":0.50}}
server > {"method":"notifications/progress","params":{"progressToken":"p","progress":1,"total":9,
         "message":"字","x/new":[],"_meta":{"example.com/a":1}}}
server > {"id":1,"result":{"content":[]}}
host   > {"id":2,"method":"tools/list","params":{"_meta":{"progressToken":7}}}
server > {"method":"notifications/progress","params":{"progressToken":7,"progress":-1}}
server > {"id":2,"result":{"tools":[]}}
""",
    ),
    _feature(
        "progress that does not rise",
        """
host   > {"id":1,"method":"tools/call","params":{"name":"t","_meta":{"progressToken":"p"}}}
server > {"method":"notifications/progress","params":{"progressToken":"p","progress":1}}
server > {"method":"notifications/progress","params":{"progressToken":"p","progress":1,
         "message":"m"}}
nothing
""",
        "only what rises passes",
        "2026-07-28 basic/patterns/progress: the value MUST increase",
    ),
    _feature(
        "logging/setLevel",
        """
host   > {"id":1,"method":"logging/setLevel","params":{"level":"warning"}}
host   < {"id":1,"result":{}}
host   > {"id":2,"method":"tools/list"}
server < {"id":"s","method":"logging/setLevel","params":{"level":"warning"}}
server > {"id":"s","result":{}}
server < {"id":2,"method":"tools/list"}
server > {"id":2,"result":{"tools":[]}}
""",
        "the server hears of the level with the next request",
        "2026-07-28 server/utilities/logging (Per-request log level)",
    ),
    _feature(
        "log messages in a request",
        _LEVEL
        + """
host   > {"id":1,"method":"tools/call","params":{"name":"t"}}
server < {"id":"s","method":"logging/setLevel","params":{"level":"info"}}
server > {"id":"s","result":{}}
server < {"id":1,"method":"tools/call","params":{"name":"t"}}
server > {"method":"notifications/message","params":{"level":"info","logger":"l","data":{"a":1.50},
         "_meta":{"example.com/a":1}}}
server > {"method":"notifications/message","params":{"level":"emergency","data":"x"}}
server > {"id":1,"result":{"content":[]}}
""",
        "they come as they are; the level as above",
        "2026-07-28 server/utilities/logging",
    ),
    _feature(
        "log messages outside of any request, or before a level is set",
        """
server > {"method":"notifications/message","params":{"level":"error","data":"x"}}
nothing
host   > {"id":1,"method":"tools/call","params":{"name":"t"}}
server > {"method":"notifications/message","params":{"level":"error","data":"x"}}
nothing
""",
        "they do not pass",
        "2026-07-28 server/utilities/logging: a server MUST NOT send any for a "
        "request that did not ask",
    ),
    _feature(
        "cancellation with its reason",
        """
host   > {"id":1,"method":"tools/call","params":{"name":"t"}}
host   > {"method":"notifications/cancelled","params":{"requestId":1,"reason":"字 enough"}}
host   > {"id":"a","method":"resources/read","params":{"uri":"x:a"}}
host   > {"method":"notifications/cancelled","params":{"requestId":"a"}}
""",
    ),
    _feature(
        "an answer that comes after its cancellation",
        """
host   > {"id":1,"method":"tools/call","params":{"name":"t"}}
host   > {"method":"notifications/cancelled","params":{"requestId":1}}
server > {"id":1,"result":{"content":[]}}
nothing
""",
        "it ends at the bridge",
        "2025-11-25 basic/utilities/cancellation: the host ignores it",
    ),
    _feature(
        "unknown notifications of the host",
        """
host   > {"method":"notifications/example.com/n","params":{"a":[1.50],"_meta":{"example.com/a":1}}}
host   > {"method":"notifications/example.com/n"}
""",
    ),
    _feature(
        "unknown notifications of the server",
        """
server > {"method":"notifications/example.com/n","params":{"a":[1.50],"_meta":{"example.com/a":1}}}
server > {"method":"notifications/example.com/n"}
""",
    ),
    _feature(
        "notifications/roots/list_changed",
        """
host   > {"method":"notifications/roots/list_changed"}
nothing
""",
        "the server is not told; when it asks for the roots it gets the new ones",
        "2026-07-28 client/roots: there is no such notification",
    ),
    # Questions
    _feature("a form", _CALL + _asks("7", _FORM, _ACCEPT) + _DONE),
    _feature(
        "a form that is declined, and one that is cancelled",
        _CALL
        + _asks('"7"', _FORM, '{"action":"decline"}')
        + _asks("8", _FORM, '{"action":"cancel"}')
        + _DONE,
    ),
    _feature(
        "a URL",
        _CALL
        + f"""
server > {{"id":7,"method":{_URL}}}
host   > {{"id":7,"result":{{"action":"accept"}}}}
server > {{"id":1,"result":{{"content":[]}}}}
host   < {{"method":"notifications/elicitation/complete","params":{{"elicitationId":"e"}}}}
host   < {{"id":1,"result":{{"content":[]}}}}
""",
        "its elicitationId is another one, and its completion is told with the end of the call",
        "2026-07-28 client/elicitation: there is no elicitationId",
    ),
    _feature(
        "the completion of a URL",
        _CALL
        + f"""
server > {{"id":7,"method":{_URL}}}
host   > {{"id":7,"result":{{"action":"accept"}}}}
server > {{"method":"notifications/elicitation/complete","params":{{"elicitationId":"e"}}}}
nothing
""",
        "the host hears of it with the end of the call",
        "2026-07-28 client/elicitation: there is no such notification",
    ),
    _feature(
        "sampling with tools and arrays of content", _CALL + _asks("7", _SAMPLE, _SAID) + _DONE
    ),
    _feature("roots", _CALL + _asks("7", _ROOTS, _TOLD) + _DONE),
    _feature(
        "several questions in one call, one after the other",
        _CALL
        + _asks("7", _FORM, _ACCEPT)
        + _asks("8", _ROOTS, _TOLD)
        + _asks("9", _SAMPLE, _SAID)
        + _asks("10", _FORM, _ACCEPT)
        + _DONE,
    ),
    _feature(
        "questions of prompts/get and resources/read",
        """
host   > {"id":2,"method":"prompts/get","params":{"name":"p"}}
"""
        + _asks("7", _FORM, _ACCEPT)
        + """
server > {"id":2,"result":{"messages":[]}}
host   > {"id":3,"method":"resources/read","params":{"uri":"x:a"}}
"""
        + _asks("8", _ROOTS, _TOLD)
        + """
server > {"id":3,"result":{"contents":[]}}
""",
    ),
    _feature(
        "a question that is asked while another one is open",
        _CALL
        + f"""
server > {{"id":7,"method":{_FORM}}}
server > {{"id":8,"method":{_SAMPLE}}}
nothing
host   > {{"id":7,"result":{_ACCEPT}}}
server < {{"id":7,"result":{_ACCEPT}}}
host   < {{"id":8,"method":{_SAMPLE}}}
host   > {{"id":8,"result":{_SAID}}}
server > {{"id":1,"result":{{"content":[]}}}}
""",
        "it waits for the answer to the one before, unless both come within 20 ms",
        "2026-07-28 basic/patterns/mrtr: questions come in rounds",
    ),
    _feature(
        "a question of one of two calls",
        _CALL
        + f"""
host   > {{"id":2,"method":"tools/call","params":{{"name":"u"}}}}
server > {{"id":7,"method":{_FORM}}}
nothing
after 5
host   < {{"id":7,"method":{_FORM}}}
host   > {{"id":7,"result":{_ACCEPT}}}
server > {{"id":1,"result":{{"content":[]}}}}
server > {{"id":2,"result":{{"content":[]}}}}
""",
        "it comes up to 2 s later, as the bridge waits to see whose it is",
        "2026-07-28 basic/patterns/mrtr: a question belongs to a call",
    ),
    _feature(
        "an error in answer to an elicitation",
        _CALL
        + f"""
server > {{"id":7,"method":{_FORM}}}
host   > {{"id":7,"error":{{"code":-1,"message":"No"}}}}
server < {{"id":7,"result":{{"action":"cancel"}}}}
server > {{"id":1,"result":{{"content":[]}}}}
""",
        "the server gets `cancel`",
        "2026-07-28 client/elicitation: an answer cannot be an error",
    ),
    _feature(
        "an error in answer to sampling or roots",
        _CALL
        + f"""
server > {{"id":7,"method":{_ROOTS}}}
host   > {{"id":7,"error":{{"code":-1,"message":"No","data":[1.50]}}}}
host   < {{"id":1,"error":{{"code":-1,"message":"No","data":[1.50]}}}}
""",
        "the call fails with that error; the server hears nothing before its question expires",
        "2026-07-28 client/sampling, client/roots (Error Handling): an answer cannot be an error",
    ),
    _feature(
        "a question that the server takes back",
        _CALL
        + f"""
server > {{"id":7,"method":{_FORM}}}
server > {{"method":"notifications/cancelled","params":{{"requestId":7}}}}
nothing
host   > {{"id":7,"result":{_ACCEPT}}}
nothing
server > {{"id":1,"result":{{"content":[]}}}}
""",
        "the host is asked all the same, and its answer is dropped",
        "2026-07-28 basic/patterns/mrtr: a question cannot be taken back",
    ),
    _feature(
        "progress of a question",
        _CALL
        + """
server > {"id":7,"method":"roots/list","params":{"_meta":{"progressToken":"p"}}}
host   < {"id":7,"method":"roots/list","params":{}}
host   > {"method":"notifications/progress","params":{"progressToken":"p","progress":1}}
nothing
""",
        "it does not pass",
        "2026-07-28 basic/patterns/progress: from the server only",
    ),
    _feature(
        "a question outside of any call",
        f"""
server > {{"id":7,"method":{_FORM}}}
server < {{"id":7,"error":{{"code":-32602,"message":"No request is being processed"}}}}
""",
        "it is refused; roots/list waits for the next call",
        "2026-07-28 basic/patterns: a server asks in answer to a request only",
    ),
    _feature(
        "an unknown request of the server",
        """
server > {"id":7,"method":"example.com/ask"}
server < {"id":7,"error":{"code":-32601,"message":
         "example.com/ask is not supported by this client"}}
""",
        "it is refused",
        "2026-07-28 basic/patterns: there are no requests of a server",
    ),
    _feature(
        "a call that is given up while it asks",
        _CALL
        + f"""
server > {{"id":7,"method":{_FORM}}}
host   > {{"method":"notifications/cancelled","params":{{"requestId":1,"reason":"r"}}}}
host   < {{"method":"notifications/cancelled","params":{{"requestId":7}}}}
host   > {{"id":7,"result":{_ACCEPT}}}
nothing
after 600
server < {{"id":7,"result":{{"action":"cancel"}}}}
server < {{"method":"notifications/cancelled","params":{{"requestId":1,
         "reason":"The host has not answered the questions in time"}}}}
""",
        "its question is taken back, and the server hears of it when the question expires",
        "2026-07-28 basic/patterns/cancellation (Behavior Requirements): only what is open can be "
        "cancelled, and a call that asks has been answered",
    ),
    # Changes
    _feature(
        "changes of the lists",
        """
server > {"method":"notifications/tools/list_changed","params":{"x/new":1,
         "_meta":{"example.com/a":1}}}
server > {"method":"notifications/prompts/list_changed"}
server > {"method":"notifications/resources/list_changed"}
""",
    ),
    _feature(
        "changes of a resource, until unsubscribed",
        _SUBSCRIBED
        + """
server > {"method":"notifications/resources/updated","params":{"uri":"x:a","x/new":1.50,
         "_meta":{"example.com/a":1}}}
host   > {"id":2,"method":"resources/unsubscribe","params":{"uri":"x:a"}}
server < {"id":2,"method":"resources/unsubscribe","params":{"uri":"x:a"}}
host   < {"id":2,"result":{}}
server > {"id":2,"result":{}}
nothing
server > {"method":"notifications/resources/updated","params":{"uri":"x:a"}}
nothing
""",
        "the bridge answers resources/unsubscribe, without waiting for the server",
        "2026-07-28 basic/patterns/subscriptions: to end a stream is a notification",
    ),
    _feature(
        "changes of two resources, and of parts of them",
        _SUBSCRIBED
        + """
host   > {"id":2,"method":"resources/subscribe","params":{"uri":"x:b"}}
server > {"id":2,"result":{}}
server > {"method":"notifications/resources/updated","params":{"uri":"x:b"}}
server > {"method":"notifications/resources/updated","params":{"uri":"x:a/1"}}
server > {"method":"notifications/resources/updated","params":{"uri":"x:a"}}
""",
    ),
    _feature(
        "a subscription that is refused",
        """
host   > {"id":1,"method":"resources/subscribe","params":{"uri":"x:no"}}
server > {"id":1,"error":{"code":-32002,"message":"Gone","data":{"uri":"x:no"}}}
host   < {"id":1,"error":{"code":-32602,"message":
         "The server does not tell of changes of this resource","data":{"uri":"x:no"}}}
""",
        "the host hears that it is, and not why",
        "2026-07-28 basic/patterns/subscriptions: a resource is left out of the acknowledgement",
    ),
    _feature(
        "a second subscription to the same resource",
        _SUBSCRIBED
        + """
host   > {"id":2,"method":"resources/subscribe","params":{"uri":"x:a"}}
host   < {"id":2,"result":{}}
""",
        "the bridge answers it",
        "2026-07-28 basic/patterns/subscriptions: one filter for all",
    ),
)
