"""The filter of a `subscriptions/listen` stream: what may be in it, and what each part needs.

Spec 2026-07-28, basic/patterns/subscriptions; schema.ts (SubscriptionFilter).
"""

from collections.abc import Callable
from typing import Final

import msgspec
from msgspec import Raw

from mcp_era_wire import methods
from mcp_era_wire.envelope import ABSENT
from mcp_era_wire.members import Members, members_of

FLAGS: Final = {
    "toolsListChanged": ("tools", methods.TOOLS_LIST_CHANGED),
    "promptsListChanged": ("prompts", methods.PROMPTS_LIST_CHANGED),
    "resourcesListChanged": ("resources", methods.RESOURCES_LIST_CHANGED),
}
"""The flags of a filter: the server's capability that each needs, and the notification."""


class Filter(msgspec.Struct, frozen=True, rename="camel"):
    """A SubscriptionFilter; what we do not know in it is left out."""

    tools_list_changed: bool = False
    prompts_list_changed: bool = False
    resources_list_changed: bool = False
    resource_subscriptions: list[str] = []

    @property
    def flags(self) -> frozenset[str]:
        """The flags that are set, by their names in a filter."""
        given = (self.tools_list_changed, self.prompts_list_changed, self.resources_list_changed)
        return frozenset(flag for flag, is_set in zip(FLAGS, given, strict=True) if is_set)


read_filter: Final[Callable[[Raw | bytes], Filter]] = msgspec.json.Decoder(Filter).decode
"""Reads a SubscriptionFilter; raises one of UNREADABLE if it is none."""


def declares(capabilities: Members, name: str, part: str) -> bool:
    """Whether a server's capabilities hold `part` of `name` with the value true."""
    return bytes((members_of(capabilities.get(name)) or {}).get(part, ABSENT)) == b"true"
