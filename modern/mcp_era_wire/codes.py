"""JSON-RPC error codes, by name.

Spec 2026-07-28, basic/index (Error Codes); the legacy ones from 2025-11-25, schema.ts.
"""

from typing import Final

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603

HEADER_MISMATCH: Final = -32020
MISSING_REQUIRED_CLIENT_CAPABILITY: Final = -32021
UNSUPPORTED_PROTOCOL_VERSION: Final = -32022

SAMPLING_REJECTED: Final = -1
"""The user rejected a sampling request (2025-11-25, client/sampling, Error Handling)."""

LEGACY_RESOURCE_NOT_FOUND: Final = -32002
LEGACY_URL_ELICITATION_REQUIRED: Final = -32042

RESERVED_CODES: Final = range(-32099, -32019)
"""-32099 to -32020: only the specification may define codes here (basic/index, Error Codes)."""
