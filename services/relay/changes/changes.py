"""Changes that a server tells of: of its lists, and of single resources.

2026-07-28 asks for them with a filter (`subscriptions/listen`). Before, list changes come unasked
on the GET stream, and resources are subscribed to one by one.
"""

from dataclasses import dataclass
from typing import Any

from services.relay.messages import rpc

LISTEN = "subscriptions/listen"
ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
SUBSCRIBE, UNSUBSCRIBE = "resources/subscribe", "resources/unsubscribe"
MAX_URIS = 100
_UPDATED = "notifications/resources/updated"
_FLAGS = {
    "tools": "toolsListChanged",
    "prompts": "promptsListChanged",
    "resources": "resourcesListChanged",
}
_LISTS = {f"notifications/{kind}/list_changed": kind for kind in _FLAGS}


@dataclass(frozen=True, slots=True)
class Wanted:
    """`lists`: of tools, prompts, resources; `uris`: of resources."""

    lists: frozenset[str] = frozenset()
    uris: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.lists or self.uris)

    @property
    def filter(self) -> rpc.Message:
        """As 2026-07-28 writes it."""
        found: rpc.Message = {flag: True for kind, flag in _FLAGS.items() if kind in self.lists}
        return found | ({"resourceSubscriptions": list(self.uris)} if self.uris else {})

    def within(self, capabilities: rpc.Message) -> "Wanted":
        """What a server with these capabilities tells of."""
        lists = {kind for kind in self.lists if _has(capabilities, kind, "listChanged")}
        subscribes = _has(capabilities, "resources", "subscribe")
        return Wanted(frozenset(lists), self.uris if subscribes else ())

    def takes(self, message: rpc.Message) -> bool:
        """Whether a server's message is one of these changes, or of a part of such a resource."""
        kind = list_of(message)
        if kind is not None:
            return kind in self.lists
        uri = uri_of(message)
        return uri is not None and any(uri.startswith(wanted) for wanted in self.uris)

    def all(self) -> list[rpc.Message]:
        """Each of them as a notification: for when some may have been missed."""
        changed = [list_changed(kind) for kind in _FLAGS if kind in self.lists]
        return changed + [updated(uri) for uri in self.uris]


EVERY_LIST = Wanted(frozenset(_FLAGS))
ANYTHING = Wanted(frozenset(_FLAGS), ("",))


def of_filter(given: Any) -> Wanted | None:
    """What a filter of 2026-07-28 asks for; None when it is none."""
    if not isinstance(given, dict):
        return None
    uris = given.get("resourceSubscriptions")
    uris = [] if uris is None else uris
    if not isinstance(uris, list) or not all(isinstance(uri, str) for uri in uris):
        return None
    lists = frozenset(kind for kind, flag in _FLAGS.items() if given.get(flag) is True)
    return Wanted(lists, tuple(dict.fromkeys(uris)))


def acknowledged(message: rpc.Message) -> Wanted:
    """What a server of 2026-07-28 says that it will tell of."""
    params = message.get("params")
    told = params.get("notifications") if isinstance(params, dict) else None
    return of_filter(told) or Wanted()


def list_changed(kind: str) -> rpc.Message:
    """The notification that a list has changed."""
    return {"jsonrpc": "2.0", "method": f"notifications/{kind}/list_changed"}


def updated(uri: str) -> rpc.Message:
    """The notification that a resource has changed."""
    return {"jsonrpc": "2.0", "method": _UPDATED, "params": {"uri": uri}}


def list_of(message: rpc.Message) -> str | None:
    """Which list has changed."""
    method = message.get("method")
    return _LISTS.get(method) if isinstance(method, str) and "id" not in message else None


def uri_of(message: rpc.Message) -> str | None:
    """Which resource has changed."""
    params = message.get("params")
    if message.get("method") != _UPDATED or "id" in message or not isinstance(params, dict):
        return None
    uri = params.get("uri")
    return uri if isinstance(uri, str) else None


def _has(capabilities: rpc.Message, kind: str, flag: str) -> bool:
    given = capabilities.get(kind)
    return isinstance(given, dict) and given.get(flag) is True
