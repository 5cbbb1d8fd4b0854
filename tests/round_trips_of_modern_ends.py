"""What becomes of each feature between a modern host and a modern server, with two bridges between.

The first bridge takes what is behind it for a legacy server, the second is that server: everything
is translated there and back. How a dialogue is written is told in chains.py; what stands below a
line is what differs. Spec 2026-07-28; the losses name the clause that makes them.
"""

from typing import Final

from round_trips import Feature

_SERVER: Final = '{"name":"old","version":"1"}'
_WHO: Final = f'"io.modelcontextprotocol/serverInfo":{_SERVER}'
_OFFERS: Final = (
    '{"tools":{"listChanged":true},"prompts":{"listChanged":true},'
    '"resources":{"subscribe":true,"listChanged":true},"logging":{},"completions":{}}'
)


def opening(
    capabilities: str = "{}", more: str = "", *, meta: str = _WHO, asks: str = "$FULL"
) -> str:
    """The host discovers the server, which has no lists that change."""
    return f"""
host   > {{"id":"d","method":"server/discover","params":{{{asks}}}}}
server > {{"id":"d","result":{{"resultType":"complete","supportedVersions":["2026-07-28"],
         "capabilities":{capabilities},{more}"ttlMs":0,"cacheScope":"private","_meta":{{{meta}}}}}}}
"""


_OPEN: Final = opening('{"tools":{},"prompts":{},"resources":{},"completions":{}}')

_FORM: Final = """{"method":"elicitation/create","params":{"mode":"form","message":"Who?",
    "requestedSchema":{"type":"object","properties":{"n":{"type":"string","x-y":[1.50]}}}}}"""
_URL: Final = """{"method":"elicitation/create","params":{"mode":"url","message":"Sign in",
    "url":"https://example.com/in"}}"""
_SAMPLE: Final = """{"method":"sampling/createMessage","params":{"messages":[{"role":"user",
    "content":[{"type":"text","text":"Hi"},{"type":"text","text":"Ho"}]}],"maxTokens":9,
    "tools":[{"name":"t","inputSchema":{"type":"object"}}],"includeContext":"thisServer",
    "modelPreferences":{"hints":[{"name":"m"}],"costPriority":0.10},"x/new":true}}"""
_ROOTS: Final = '{"method":"roots/list","params":{}}'
_ACCEPT: Final = '{"action":"accept","content":{"n":"Ada","x":1.50},"_meta":{"example.com/a":1}}'
_SAID: Final = """{"role":"assistant","content":[{"type":"tool_use","id":"u","name":"t",
    "input":{}}],"model":"m","stopReason":"toolUse","x/new":[]}"""
_TOLD: Final = '{"roots":[{"uri":"file:///a","name":"A","_meta":{"example.com/a":1}}]}'


def _call(id: str, more: str = "") -> str:
    return (
        f'{{"id":{id},"method":"tools/call","params":{{"name":"t","arguments":{{}},{more}$FULL}}}}'
    )


def _asks(id: str, state: str, *questions: tuple[str, str]) -> str:
    entries = ",".join(f'"{key}":{question}' for key, question in questions)
    return (
        f'{{"id":{id},"result":{{"resultType":"input_required","inputRequests":{{{entries}}},'
        f'"requestState":"{state}",$IDENTITY}}}}'
    )


def _answers(state: str, **answers: str) -> str:
    entries = ",".join(f'"{key}":{answer}' for key, answer in answers.items())
    return f'"requestState":"{state}","inputResponses":{{{entries}}},'


def _question(question: str, answer: str) -> str:
    """A call that asks one thing and then is done."""
    return f"""
host   > {_call("1")}
server > {_asks("1", "s", ("k", question))}
host   > {_call("2", _answers("s", k=answer))}
server > {{"id":2,"result":{{"content":[],$DONE}}}}
"""


def _request(method: str, params: str, result: str, end: str = "$DONE") -> str:
    return f"""
host   > {{"id":1,"method":"{method}","params":{{{params}$FULL}}}}
server > {{"id":1,"result":{{{result},{end}}}}}
"""


_WATCHING: Final = opening('{"resources":{"subscribe":true}}')
_SUBSCRIBED: Final = """
host   > {"id":"l","method":"subscriptions/listen","params":{"notifications":
         {"resourceSubscriptions":["x:a"]},$FULL}}
server > {"method":"notifications/subscriptions/acknowledged","params":{"notifications":
         {"resourceSubscriptions":["x:a"]},"_meta":{"io.modelcontextprotocol/subscriptionId":"l"}}}
"""

_CHANGING: Final = f"""
host   > {{"id":"d","method":"server/discover","params":{{$FULL}}}}
server > {{"id":"d","result":{{"resultType":"complete","supportedVersions":["2026-07-28"],
         "capabilities":{_OFFERS},"ttlMs":0,"cacheScope":"private","_meta":{{{_WHO}}}}}}}
server < {{"id":"base","method":"subscriptions/listen","params":{{"notifications":
         {{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true}},$FULL}}}}
host   < {{"id":"d","result":{{"resultType":"complete","supportedVersions":["2026-07-28"],
         "capabilities":{_OFFERS},"ttlMs":0,"cacheScope":"private","_meta":{{{_WHO}}}}}}}
server > {{"method":"notifications/subscriptions/acknowledged","params":{{"notifications":
         {{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true}},
         "_meta":{{"io.modelcontextprotocol/subscriptionId":"base"}}}}}}
nothing
"""

FEATURES: Final = (
    # Opening
    Feature(
        "capabilities, known and unknown",
        opening(
            '{"tools":{"x/new":1},"prompts":{},"resources":{"subscribe":true},"completions":{},'
            '"logging":{},"experimental":{"a":{"b":[1.50]}},"extensions":{"example.com/e":{"v":2}},'
            '"example.com/more":{"deep":{"er":null}}}'
        ),
    ),
    Feature("instructions", opening("{}", r'"instructions":"Use \"echo\" first.\n字",')),
    Feature(
        "serverInfo with title, icons and more",
        opening(
            "{}",
            meta=(
                '"io.modelcontextprotocol/serverInfo":{"name":"n","version":"1","title":"T",'
                '"description":"D","websiteUrl":"https://example.com","icons":[{"src":"data:,",'
                '"sizes":["48x48"],"theme":"dark"}],"x/new":{}},"example.com/a":{"b":1}'
            ),
        ),
    ),
    Feature(
        "clientInfo with title, icons and more",
        opening(
            "{}",
            asks=(
                '"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",'
                '"io.modelcontextprotocol/clientInfo":{"name":"h","version":"1","title":"T","icons":'
                '[{"src":"data:,"}],"x/new":1.50},"io.modelcontextprotocol/clientCapabilities":'
                '{"roots":{},"sampling":{"tools":{}},"elicitation":{"form":{},"url":{}},'
                '"experimental":{"a":1},"extensions":{"example.com/e":{}},"example.com/more":[]}}'
            ),
        ),
    ),
    # Requests
    Feature(
        "tools/list",
        _OPEN
        + _request(
            "tools/list",
            '"cursor":"",',
            """
        "tools":[{"name":"t","title":"T","description":"D","inputSchema":{"type":"object",
        "oneOf":[{"x":1e400}],"$defs":{}},"outputSchema":{"type":"object"},"annotations":
        {"readOnlyHint":true},"icons":[{"src":"data:,"}],"_meta":{"example.com/a":1},"x/new":0}],
        "nextCursor":"c","x/new":1.50""",
            "$LISTED",
        ),
    ),
    Feature(
        "prompts/list, prompts/get",
        _OPEN
        + _request(
            "prompts/list",
            "",
            """
        "prompts":[{"name":"p","title":"T","arguments":[{"name":"a","required":true}],"icons":[]}],
        "nextCursor":"c\"""",
            "$LISTED",
        )
        + """
host   > {"id":2,"method":"prompts/get","params":{"name":"p","arguments":{"a":"b"},$FULL}}
server > {"id":2,"result":{"description":"D","messages":[{"role":"user","content":{"type":"text",
         "text":"t","annotations":{"priority":0.50}}}],$DONE}}
""",
    ),
    Feature(
        "resources/list, templates, resources/read",
        _OPEN
        + _request(
            "resources/list",
            "",
            """
        "resources":[{"uri":"x:a","name":"a","size":12345678901234567890,"annotations":
        {"lastModified":"2026-01-01T00:00:00Z"}}]""",
            "$LISTED",
        )
        + """
host   > {"id":2,"method":"resources/templates/list","params":{$FULL}}
server > {"id":2,"result":{"resourceTemplates":[{"uriTemplate":"x:{a}","name":"a"}],$LISTED}}
host   > {"id":3,"method":"resources/read","params":{"uri":"x:a",$FULL}}
server > {"id":3,"result":{"contents":[{"uri":"x:a","text":"字"},{"uri":"x:b","blob":"AA==",
         "mimeType":"a/b","_meta":{"example.com/a":1}}],$LISTED}}
""",
    ),
    Feature(
        "completion/complete",
        _OPEN
        + _request(
            "completion/complete",
            """
        "ref":{"type":"ref/prompt","name":"p","title":"T"},"argument":{"name":"a","value":"b"},
        "context":{"arguments":{"c":"d"}},""",
            """
        "completion":{"values":["bc"],"total":7,"hasMore":true}""",
        ),
    ),
    Feature(
        "an unknown method", _OPEN + _request("example.com/do", '"x":[1.50,null],', '"y":1e400')
    ),
    Feature(
        "unknown params, `_meta` of others and trace context",
        _OPEN
        + """
host   > {"id":1,"method":"tools/call","params":{"name":"t","arguments":{"n":123456789012345678901,
         "f":1.50},"x/new":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",
         "io.modelcontextprotocol/clientInfo":{"name":"host","version":"2"},
         "io.modelcontextprotocol/clientCapabilities":{"roots":{},"sampling":{"context":{},
         "tools":{}},"elicitation":{"form":{},"url":{}}},"example.com/a":{"b":1.50},"traceparent":
         "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01","tracestate":"a=b",
         "baggage":"c=d"}}}
server > {"id":1,"result":{"content":[],"resultType":"complete","_meta":{
         "io.modelcontextprotocol/serverInfo":{"name":"old","version":"1"},"example.com/a":[2]}}}
""",
    ),
    Feature(
        "ids 0, negative and of text; several at once, out of order",
        _OPEN
        + """
host   > {"id":0,"method":"tools/list","params":{$FULL}}
host   > {"id":"0","method":"tools/list","params":{$FULL}}
host   > {"id":-7,"method":"prompts/list","params":{$FULL}}
server > {"id":-7,"result":{"prompts":[],$LISTED}}
server > {"id":"0","result":{"tools":[],$LISTED}}
server > {"id":0,"result":{"tools":[],$LISTED}}
""",
    ),
    # Results and errors
    Feature(
        "content of every kind",
        _OPEN
        + _request(
            "tools/call",
            '"name":"t","arguments":{},',
            """
        "content":[{"type":"text","text":"字 \\u2028","annotations":{"audience":["user"]}},
        {"type":"image","data":"AA==","mimeType":"i/p"},{"type":"audio","data":"AA==",
        "mimeType":"a/w"},{"type":"resource_link","uri":"x:a","name":"a"},{"type":"resource",
        "resource":{"uri":"x:a","text":"t"}},{"type":"x/new","deep":[1.50]}],"isError":true""",
        ),
    ),
    Feature(
        "structuredContent, an object",
        _OPEN
        + _request(
            "tools/call",
            '"name":"t",',
            '"content":[{"type":"text","text":"{}"}],"structuredContent":{"n":1.50,"d":[null]}',
        ),
    ),
    Feature(
        "structuredContent, anything else",
        _OPEN
        + """
host   > {"id":1,"method":"tools/call","params":{"name":"t",$FULL}}
server > {"id":1,"result":{"content":[{"type":"text","text":"[1]"}],"structuredContent":[1],$DONE}}
host   < {"id":1,"result":{"content":[{"type":"text","text":"[1]"}],$DONE}}
""",
        "only the text of it passes",
        "2025-11-25 server/tools (Structured Content): an object",
    ),
    Feature(
        "outputSchema, anything but of an object",
        _OPEN
        + """
host   > {"id":1,"method":"tools/list","params":{$FULL}}
server > {"id":1,"result":{"tools":[{"name":"t","inputSchema":{"type":"object"},"outputSchema":
         {"type":"array"}}],$LISTED}}
host   < {"id":1,"result":{"tools":[{"name":"t","inputSchema":{"type":"object"}}],$LISTED}}
""",
        "the tool comes without it",
        "2025-11-25 server/tools (Output Schema): type object",
    ),
    Feature(
        "`ttlMs` and `cacheScope`",
        _OPEN
        + """
host   > {"id":1,"method":"tools/list","params":{$FULL}}
server > {"id":1,"result":{"tools":[],"resultType":"complete","ttlMs":5,"cacheScope":"public",
         $IDENTITY}}
host   < {"id":1,"result":{"tools":[],$LISTED}}
""",
        "0 and private come instead: nothing is cached",
        "2025-11-25 has no caching of results",
    ),
    Feature(
        "errors with code, message and data",
        _OPEN
        + """
host   > {"id":1,"method":"tools/call","params":{"name":"t",$FULL}}
server > {"id":1,"error":{"code":-32602,"message":"No","data":{"a":[1.50],"b":null}}}
host   > {"id":2,"method":"tools/call","params":{"name":"t",$FULL}}
server > {"id":2,"error":{"code":-32000,"message":"No","data":"text"}}
host   > {"id":3,"method":"prompts/get","params":{"name":"p",$FULL}}
server > {"id":3,"error":{"code":-32603,"message":"No"}}
host   > {"id":4,"method":"example.com/do","params":{$FULL}}
server > {"id":4,"error":{"code":-32601,"message":"No","x/new":1}}
host   > {"id":5,"method":"tools/call","params":{"name":"t",$FULL}}
server > {"id":5,"error":{"code":7,"message":""}}
""",
    ),
    Feature(
        "a resource that is not there",
        _OPEN
        + """
host   > {"id":1,"method":"resources/read","params":{"uri":"x:no",$FULL}}
server > {"id":1,"error":{"code":-32602,"message":"Gone","data":{"uri":"x:no","x":1}}}
host   > {"id":2,"method":"resources/read","params":{"uri":"x:no",$FULL}}
server > {"id":2,"error":{"code":-32602,"message":"Gone"}}
""",
    ),
    Feature(
        "-32021, a capability that a request should have declared",
        _OPEN
        + """
host   > {"id":1,"method":"tools/call","params":{"name":"t",$FULL}}
server > {"id":1,"error":{"code":-32021,"message":"No","data":{"requiredCapabilities":{"x/y":{}}}}}
""",
    ),
    Feature(
        "other codes from -32099 to -32020",
        _OPEN
        + """
host   > {"id":1,"method":"tools/call","params":{"name":"t",$FULL}}
server > {"id":1,"error":{"code":-32050,"message":"No","data":[1.50]}}
host   < {"id":1,"error":{"code":-32603,"message":"No","data":{"code":-32050,"data":[1.50]}}}
""",
        "-32603 comes instead, with code and data inside",
        "2026-07-28 basic (Error Codes): a server MUST NOT send them",
    ),
    # While a request is open
    Feature(
        "progress: value, total, message and more",
        _OPEN
        + """
host   > {"id":1,"method":"tools/call","params":{"name":"t","_meta":{"progressToken":"p",
         "io.modelcontextprotocol/protocolVersion":"2026-07-28",
         "io.modelcontextprotocol/clientInfo":{"name":"host","version":"2"},
         "io.modelcontextprotocol/clientCapabilities":{"roots":{},"sampling":{"context":{},
         "tools":{}},"elicitation":{"form":{},"url":{}}}}}}
server > {"method":"notifications/progress","params":{"progressToken":"p","progress":0.50}}
server > {"method":"notifications/progress","params":{"progressToken":"p","progress":1,"total":9,
         "message":"字","x/new":[],"_meta":{"example.com/a":1}}}
server > {"id":1,"result":{"content":[],$DONE}}
""",
    ),
    Feature(
        "log messages of the level that a request asks for",
        opening('{"logging":{}}')
        + """
host   > {"id":1,"method":"tools/call","params":{"name":"t","_meta":{
         "io.modelcontextprotocol/logLevel":"info",
         "io.modelcontextprotocol/protocolVersion":"2026-07-28",
         "io.modelcontextprotocol/clientInfo":{"name":"host","version":"2"},
         "io.modelcontextprotocol/clientCapabilities":{"roots":{},"sampling":{"context":{},
         "tools":{}},"elicitation":{"form":{},"url":{}}}}}}
server > {"method":"notifications/message","params":{"level":"info","logger":"l","data":{"a":1.50},
         "_meta":{"example.com/a":1}}}
server > {"method":"notifications/message","params":{"level":"emergency","data":"x"}}
server > {"id":1,"result":{"content":[],$DONE}}
""",
    ),
    Feature(
        "the level of the request after that",
        opening('{"logging":{}}')
        + """
host   > {"id":1,"method":"tools/call","params":{"name":"t","_meta":{
         "io.modelcontextprotocol/logLevel":"info",
         "io.modelcontextprotocol/protocolVersion":"2026-07-28",
         "io.modelcontextprotocol/clientInfo":{"name":"host","version":"2"},
         "io.modelcontextprotocol/clientCapabilities":{"roots":{},"sampling":{"context":{},
         "tools":{}},"elicitation":{"form":{},"url":{}}}}}}
server > {"id":1,"result":{"content":[],$DONE}}
host   > {"id":2,"method":"tools/call","params":{"name":"t",$FULL}}
server < {"id":2,"method":"tools/call","params":{"name":"t","_meta":{
         "io.modelcontextprotocol/logLevel":"info",
         "io.modelcontextprotocol/protocolVersion":"2026-07-28",
         "io.modelcontextprotocol/clientInfo":{"name":"host","version":"2"},
         "io.modelcontextprotocol/clientCapabilities":{"roots":{},"sampling":{"context":{},
         "tools":{}},"elicitation":{"form":{},"url":{}}}}}}
server > {"method":"notifications/message","params":{"level":"info","data":"x"}}
nothing
server > {"id":2,"result":{"content":[],$DONE}}
""",
        "the server is asked for more than the host wants, and the host gets what it wants",
        "2025-11-25 server/utilities/logging: one level for the session",
    ),
    Feature(
        "cancellation with its reason",
        _OPEN
        + """
host   > {"id":1,"method":"tools/call","params":{"name":"t",$FULL}}
host   > {"method":"notifications/cancelled","params":{"requestId":1,"reason":"字 enough"}}
host   > {"id":"a","method":"resources/read","params":{"uri":"x:a",$FULL}}
host   > {"method":"notifications/cancelled","params":{"requestId":"a"}}
""",
    ),
    Feature(
        "an answer that comes after its cancellation",
        _OPEN
        + """
host   > {"id":1,"method":"tools/call","params":{"name":"t",$FULL}}
host   > {"method":"notifications/cancelled","params":{"requestId":1}}
server > {"id":1,"result":{"content":[],$DONE}}
nothing
""",
        "it ends at the bridge",
        "2026-07-28 basic/patterns/cancellation (Behavior Requirements): the host ignores it",
    ),
    Feature(
        "unknown notifications of the host",
        _OPEN
        + """
host   > {"method":"notifications/example.com/n","params":{"a":[1.50],"_meta":{"example.com/a":1}}}
host   > {"method":"notifications/example.com/n"}
""",
    ),
    Feature(
        "unknown notifications of the server",
        _OPEN
        + """
server > {"method":"notifications/example.com/n","params":{"a":[1.50],"_meta":{"example.com/a":1}}}
server > {"method":"notifications/example.com/n"}
""",
    ),
    # Questions
    Feature("a form", _OPEN + _question(_FORM, _ACCEPT)),
    Feature(
        "a form that is declined, and one that is cancelled",
        _OPEN
        + _question(_FORM, '{"action":"decline"}')
        + _question(_FORM, '{"action":"cancel"}')
        .replace('"id":1,', '"id":3,')
        .replace('"id":2,', '"id":4,'),
    ),
    Feature("a URL", _OPEN + _question(_URL, '{"action":"accept"}')),
    Feature("sampling with tools and arrays of content", _OPEN + _question(_SAMPLE, _SAID)),
    Feature("roots", _OPEN + _question(_ROOTS, _TOLD)),
    Feature(
        "several questions in one round",
        _OPEN
        + f"""
host   > {_call("1")}
server > {_asks("1", "s", ("a", _FORM), ("b", _SAMPLE), ("c", _ROOTS))}
host   > {_call("2", _answers("s", c=_TOLD, a=_ACCEPT, b=_SAID))}
server > {{"id":2,"result":{{"content":[],$DONE}}}}
""",
    ),
    Feature(
        "several rounds of one call",
        _OPEN
        + f"""
host   > {_call("1")}
server > {_asks("1", "s1", ("k", _FORM))}
host   > {_call("2", _answers("s1", k=_ACCEPT))}
server > {_asks("2", "s2", ("k", _ROOTS), ("l", _FORM))}
host   > {_call("3", _answers("s2", k=_TOLD, l=_ACCEPT))}
server > {_asks("3", "s3", ("m", _SAMPLE))}
host   > {_call("4", _answers("s3", m=_SAID))}
server > {{"id":4,"result":{{"content":[],$DONE}}}}
""",
    ),
    Feature(
        "questions of prompts/get and resources/read",
        _OPEN
        + f"""
host   > {{"id":1,"method":"prompts/get","params":{{"name":"p",$FULL}}}}
server > {_asks("1", "s1", ("k", _FORM))}
host   > {{"id":2,"method":"prompts/get","params":{{"name":"p",{_answers("s1", k=_ACCEPT)}$FULL}}}}
server > {{"id":2,"result":{{"messages":[],$DONE}}}}
host   > {{"id":3,"method":"resources/read","params":{{"uri":"x:a",$FULL}}}}
server > {_asks("3", "s2", ("k", _ROOTS))}
host   > {{"id":4,"method":"resources/read","params":{{"uri":"x:a",
         {_answers("s2", k=_TOLD)}$FULL}}}}
server > {{"id":4,"result":{{"contents":[],$LISTED}}}}
""",
    ),
    Feature(
        "questions of two calls, one after the other",
        _OPEN
        + f"""
host   > {_call("1")}
server > {_asks("1", "s1", ("a", _FORM))}
host   > {_call("2")}
server > {_asks("2", "s2", ("b", _FORM))}
host   > {_call("3", _answers("s2", b=_ACCEPT))}
host   > {_call("4", _answers("s1", a=_ACCEPT))}
server > {{"id":4,"result":{{"content":[],$DONE}}}}
server > {{"id":3,"result":{{"content":[],$DONE}}}}
""",
    ),
    Feature(
        "a call that only wants to be made again",
        _OPEN
        + f"""
host   > {_call("1")}
server > {{"id":1,"result":{{"resultType":"input_required","requestState":"s",$IDENTITY}}}}
server < {{"id":"again","method":"tools/call","params":{{"name":"t","arguments":{{}},
         "requestState":"s",$FULL}}}}
server > {{"id":"again","result":{{"content":[],$DONE}}}}
host   < {{"id":1,"result":{{"content":[],$DONE}}}}
""",
        "the bridge makes it again, and the host only sees the end",
        "2025-11-25 has no such answer",
    ),
    Feature(
        "part of the answers",
        _OPEN
        + f"""
host   > {_call("1")}
server > {_asks("1", "s1", ("a", _FORM), ("b", _ROOTS))}
host   > {_call("2", _answers("s1", a=_ACCEPT))}
host   < {_asks("2", "s2", ("b", _ROOTS))}
host   > {_call("3", _answers("s2", b=_TOLD))}
server < {_call("3", _answers("s1", a=_ACCEPT, b=_TOLD))}
server > {{"id":3,"result":{{"content":[],$DONE}}}}
""",
        "the bridge asks for the rest, and the server gets all at once",
        "2025-11-25 client/elicitation: each question is a request of its own",
    ),
    Feature(
        "the capabilities that one request declares",
        _OPEN
        + f"""
host   > {{"id":1,"method":"tools/call","params":{{"name":"t",$META}}}}
server < {{"id":1,"method":"tools/call","params":{{"name":"t",$FULL}}}}
server > {_asks("1", "s", ("a", _FORM))}
server < {{"id":"again","method":"tools/call","params":{{"name":"t","requestState":"s",
         "inputResponses":{{"a":{{"action":"cancel"}}}},$FULL}}}}
server > {{"id":"again","result":{{"content":[],$DONE}}}}
host   < {{"id":1,"result":{{"content":[],$DONE}}}}
""",
        "the server sees those of the session; what the request does not cover is cancelled for it",
        "2025-11-25 basic/lifecycle (Capability Negotiation): once for the session",
    ),
    Feature(
        "a call that is given up while it asks",
        _OPEN
        + f"""
host   > {_call("1")}
server > {_asks("1", "s", ("a", _FORM))}
host   > {{"method":"notifications/cancelled","params":{{"requestId":1,"reason":"r"}}}}
server < {_call('"again"', _answers("s", a='{"action":"cancel"}'))}
server < {{"method":"notifications/cancelled","params":{{"requestId":"again","reason":"r"}}}}
""",
        "the server gets `cancel` for its questions, and then the cancellation",
        "2025-11-25: a question that is open has to be answered",
    ),
    # Changes
    Feature(
        "changes of a resource",
        _WATCHING
        + _SUBSCRIBED
        + """
server > {"method":"notifications/resources/updated","params":{"uri":"x:a","x/new":1.50,
         "_meta":{"io.modelcontextprotocol/subscriptionId":"l","example.com/a":1}}}
host   > {"method":"notifications/cancelled","params":{"requestId":"l"}}
""",
    ),
    Feature(
        "a resource that the server does not watch",
        _WATCHING
        + """
host   > {"id":"l","method":"subscriptions/listen","params":{"notifications":
         {"resourceSubscriptions":["x:no"]},$FULL}}
server > {"method":"notifications/subscriptions/acknowledged","params":{"notifications":{},
         "_meta":{"io.modelcontextprotocol/subscriptionId":"l"}}}
server < {"method":"notifications/cancelled","params":{"requestId":"l"}}
host   < {"method":"notifications/subscriptions/acknowledged","params":{"notifications":{},
         "_meta":{"io.modelcontextprotocol/subscriptionId":"l"}}}
""",
        "the stream, on which nothing can come, is not kept open at the server",
        "2025-11-25 server/resources (Subscriptions): what is not subscribed to is not open",
    ),
    Feature(
        "two streams with resources",
        _WATCHING
        + _SUBSCRIBED
        + """
host   > {"id":"m","method":"subscriptions/listen","params":{"notifications":
         {"resourceSubscriptions":["x:b"]},$FULL}}
server < {"id":"both","method":"subscriptions/listen","params":{"notifications":
         {"resourceSubscriptions":["x:a","x:b"]},$FULL}}
server > {"method":"notifications/subscriptions/acknowledged","params":{"notifications":
         {"resourceSubscriptions":["x:a","x:b"]},
         "_meta":{"io.modelcontextprotocol/subscriptionId":"both"}}}
server < {"method":"notifications/cancelled","params":{"requestId":"l"}}
host   < {"method":"notifications/subscriptions/acknowledged","params":{"notifications":
         {"resourceSubscriptions":["x:b"]},"_meta":{"io.modelcontextprotocol/subscriptionId":"m"}}}
server > {"method":"notifications/resources/updated","params":{"uri":"x:a",
         "_meta":{"io.modelcontextprotocol/subscriptionId":"both"}}}
host   < {"method":"notifications/resources/updated","params":{"uri":"x:a",
         "_meta":{"io.modelcontextprotocol/subscriptionId":"l"}}}
server > {"method":"notifications/resources/updated","params":{"uri":"x:b",
         "_meta":{"io.modelcontextprotocol/subscriptionId":"both"}}}
host   < {"method":"notifications/resources/updated","params":{"uri":"x:b",
         "_meta":{"io.modelcontextprotocol/subscriptionId":"m"}}}
""",
        "the server sees one stream, and each of the host's gets what it asked for",
        "2025-11-25 server/resources (Subscriptions): one set of resources for the session",
    ),
    Feature(
        "changes of the lists",
        _CHANGING
        + """
host   > {"id":"l","method":"subscriptions/listen","params":{"notifications":
         {"toolsListChanged":true,"promptsListChanged":true},$FULL}}
host   < {"method":"notifications/subscriptions/acknowledged","params":{"notifications":
         {"toolsListChanged":true,"promptsListChanged":true},
         "_meta":{"io.modelcontextprotocol/subscriptionId":"l"}}}
server > {"method":"notifications/tools/list_changed","params":{"x/new":1,"_meta":{
         "io.modelcontextprotocol/subscriptionId":"base","example.com/a":1}}}
host   < {"method":"notifications/tools/list_changed","params":{"x/new":1,"_meta":{
         "io.modelcontextprotocol/subscriptionId":"l","example.com/a":1}}}
server > {"method":"notifications/resources/list_changed","params":{"_meta":{
         "io.modelcontextprotocol/subscriptionId":"base"}}}
nothing
host   > {"method":"notifications/cancelled","params":{"requestId":"l"}}
nothing
""",
        "the server is listened to for all of them from the start; the host gets what it asks for",
        "2025-11-25 basic/lifecycle: list changes are told to the whole session, unasked",
    ),
    Feature(
        "a stream that the server ends",
        _WATCHING
        + _SUBSCRIBED
        + """
server > {"id":"l","result":{"resultType":"complete","_meta":{
         "io.modelcontextprotocol/subscriptionId":"l"}}}
nothing
after 1
server < {"id":"again","method":"subscriptions/listen","params":{"notifications":
         {"resourceSubscriptions":["x:a"]},$FULL}}
server > {"method":"notifications/subscriptions/acknowledged","params":{"notifications":
         {"resourceSubscriptions":["x:a"]},
         "_meta":{"io.modelcontextprotocol/subscriptionId":"again"}}}
host   < {"method":"notifications/resources/updated","params":{"uri":"x:a",
         "_meta":{"io.modelcontextprotocol/subscriptionId":"l"}}}
""",
        "the bridge opens it again, and tells the host that the resource may have changed",
        "2025-11-25 server/resources (Subscriptions): a server cannot end one",
    ),
    Feature(
        "a request of the server",
        _OPEN
        + """
server > {"id":"q","method":"ping"}
server < {"id":"q","error":{"code":-32601,"message":"ping is not a request that a server may send"}}
""",
        "it is refused",
        "2026-07-28 basic/patterns: there are none",
    ),
)
