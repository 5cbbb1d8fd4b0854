"""Pieces of conversations about the child's era, for the tables of several test modules."""

from conversation import PROBED

SETTLES_LEGACY = """
child > {"id":$HELLO,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},
        "serverInfo":{"name":"old","version":"1"}}}
child < {"method":"notifications/initialized"}
"""
HELLO = """
child < {"id":$HELLO,"method":"initialize","params":{"protocolVersion":"2025-11-25",
         "capabilities":{},"clientInfo":{"name":"host","version":"2"}}}
"""
MODERN_RESULT = '{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{}}'
STAYS_MODERN = """
host  > {"id":7,"method":"x/y","params":{$META}}
child < {"id":7,"method":"x/y","params":{$META}}
child > {"id":7,"result":{"resultType":"x/odd"}}
host  < {"id":7,"result":{"resultType":"x/odd"}}
"""
FIRST_CALL = """
host  > {"id":1,"method":"tools/list","params":{$META}}
child < {"id":$PROBE,"method":"server/discover","params":{$META}}
"""
"""A host that never sends `server/discover`: the probe is ours, in its name."""

LATE = PROBED + "after 5" + HELLO
"""A child that leaves the probe unanswered has been sent `initialize`."""

REFUSED = """
host  < {"id":"d","error":{"code":-32603,"message":"The server refused initialize: not today",
         "data":{"source":"mcp-bridge","reason":"initialize_failed",
         "error":{"code":-32000,"message":"not today"}}}}
"""
"""The child has refused `initialize`."""
