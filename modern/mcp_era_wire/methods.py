"""Method names of both eras, each said once.

Spec 2026-07-28 and 2025-11-25, schema.ts (the `method` literal of each request and notification).
"""

from typing import Final

# Modern only.
DISCOVER: Final = "server/discover"
SUBSCRIPTIONS_LISTEN: Final = "subscriptions/listen"

# Both eras, host to server.
TOOLS_LIST: Final = "tools/list"
TOOLS_CALL: Final = "tools/call"
PROMPTS_LIST: Final = "prompts/list"
PROMPTS_GET: Final = "prompts/get"
RESOURCES_LIST: Final = "resources/list"
RESOURCE_TEMPLATES_LIST: Final = "resources/templates/list"
RESOURCES_READ: Final = "resources/read"
COMPLETE: Final = "completion/complete"
TASKS_GET: Final = "tasks/get"
TASKS_CANCEL: Final = "tasks/cancel"

# Modern only, extension `io.modelcontextprotocol/tasks`.
TASKS_UPDATE: Final = "tasks/update"

# Legacy only.
INITIALIZE: Final = "initialize"
PING: Final = "ping"
SET_LEVEL: Final = "logging/setLevel"
RESOURCES_SUBSCRIBE: Final = "resources/subscribe"
RESOURCES_UNSUBSCRIBE: Final = "resources/unsubscribe"
TASKS_LIST: Final = "tasks/list"
TASKS_RESULT: Final = "tasks/result"

# Questions: legacy servers send them as requests, modern ones put them into `inputRequests`.
ROOTS_LIST: Final = "roots/list"
CREATE_MESSAGE: Final = "sampling/createMessage"
ELICIT: Final = "elicitation/create"

# Notifications.
CANCELLED: Final = "notifications/cancelled"
PROGRESS: Final = "notifications/progress"
LOG_MESSAGE: Final = "notifications/message"
INITIALIZED: Final = "notifications/initialized"
ROOTS_LIST_CHANGED: Final = "notifications/roots/list_changed"
TOOLS_LIST_CHANGED: Final = "notifications/tools/list_changed"
PROMPTS_LIST_CHANGED: Final = "notifications/prompts/list_changed"
RESOURCES_LIST_CHANGED: Final = "notifications/resources/list_changed"
RESOURCE_UPDATED: Final = "notifications/resources/updated"
ELICITATION_COMPLETE: Final = "notifications/elicitation/complete"
TASK_STATUS: Final = "notifications/tasks/status"
TASK_CHANGED: Final = "notifications/tasks"
SUBSCRIPTIONS_ACKNOWLEDGED: Final = "notifications/subscriptions/acknowledged"

REQUESTS: Final = frozenset(
    {
        DISCOVER,
        SUBSCRIPTIONS_LISTEN,
        TOOLS_LIST,
        TOOLS_CALL,
        PROMPTS_LIST,
        PROMPTS_GET,
        RESOURCES_LIST,
        RESOURCE_TEMPLATES_LIST,
        RESOURCES_READ,
        COMPLETE,
        TASKS_GET,
        TASKS_CANCEL,
        TASKS_UPDATE,
        INITIALIZE,
        PING,
        SET_LEVEL,
        RESOURCES_SUBSCRIBE,
        RESOURCES_UNSUBSCRIBE,
        TASKS_LIST,
        TASKS_RESULT,
        ROOTS_LIST,
        CREATE_MESSAGE,
        ELICIT,
    }
)
"""Every request of either era."""

NOTIFICATIONS: Final = frozenset(
    {
        CANCELLED,
        PROGRESS,
        LOG_MESSAGE,
        INITIALIZED,
        ROOTS_LIST_CHANGED,
        TOOLS_LIST_CHANGED,
        PROMPTS_LIST_CHANGED,
        RESOURCES_LIST_CHANGED,
        RESOURCE_UPDATED,
        ELICITATION_COMPLETE,
        TASK_STATUS,
        TASK_CHANGED,
        SUBSCRIPTIONS_ACKNOWLEDGED,
    }
)
"""Every notification of either era."""


TAKES_INPUT: Final = frozenset({TOOLS_CALL, PROMPTS_GET, RESOURCES_READ})
"""The methods that may be answered `input_required` (basic/patterns/mrtr, Supported Requests): only
they can make a server ask its client something."""

QUESTIONS: Final = frozenset({ROOTS_LIST, CREATE_MESSAGE, ELICIT})
"""What a server may ask its client."""
