"""What both eras need: the JSON-RPC envelope, neutral events, version names and error codes."""
