"""`python -m mcp_era_bridge`: the same as the command `mcp-bridge`."""

import sys

from mcp_era_bridge.entry import main

sys.exit(main())
