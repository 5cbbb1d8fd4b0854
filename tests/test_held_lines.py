"""What a process said before its session is nothing of the next one's."""

from conversation import GREETED, play


def test_what_a_process_said_that_is_started_again_is_forgotten() -> None:
    play(
        GREETED,
        'child > {"id":"q","method":"roots/list"}',
        """
after 60
host  < {"id":"d","error":{"code":-32603,
         "message":"The server has not answered initialize within 60 s",
         "data":{"source":"mcp-bridge","reason":"initialize_timeout"}}}
host  > {"id":1,"method":"tools/list","params":{$META}}
start 2
child < {"id":1002,"method":"initialize","params":{"protocolVersion":"2025-11-25",
         "capabilities":{},"clientInfo":{"name":"host","version":"2"}}}
child > {"id":1002,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},
         "serverInfo":{"name":"old","version":"1"}}}
child < {"method":"notifications/initialized"}
child < {"id":1,"method":"tools/list"}
""",
    )
