"""Lists of what is offered, page by page, as a face shows it to a caller."""

from collections.abc import Iterator, Mapping
from typing import Any

from mcpguard.catalog.catalog import Catalog
from mcpguard.catalog.shelf import Pinned
from mcpguard.codec import cursors
from mcpguard.domain.callers import Scope
from mcpguard.domain.capabilities import CapabilityKind
from mcpguard.domain.servers.listings import KEYS
from mcpguard.gateway.faces.face import AgentFace
from mcpguard.gateway.wire import INVALID_PARAMS, Rejected
from mcpguard.policy.scopes import within

KINDS = {
    "tools/list": (CapabilityKind.TOOL, "tools"),
    "resources/list": (CapabilityKind.RESOURCE, "resources"),
    "resources/templates/list": (CapabilityKind.TEMPLATE, "resourceTemplates"),
    "prompts/list": (CapabilityKind.PROMPT, "prompts"),
}
MOST_FACES = 256
Shown = tuple[Catalog, list[dict[str, Any]]]


class ShownLists:
    """Remembers what it showed last, for as long as the catalog stays the same."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._shown: dict[tuple[str, CapabilityKind, Scope], Shown] = {}

    def page(
        self, face: AgentFace, scope: Scope, catalog: Catalog, method: str, params: Mapping[str, Any]
    ) -> tuple[dict[str, Any], list[str]]:
        """A page, and the names on it."""
        kind, key = KINDS[method]
        offset, limit = self._window(params)
        entries = self.entries(face, kind, scope, catalog)
        page = entries[offset : offset + limit]
        result: dict[str, Any] = {key: page}
        if offset + limit < len(entries):
            result["nextCursor"] = cursors.encode(offset + limit)
        return result, [str(entry[KEYS[kind]]) for entry in page]

    def entries(self, face: AgentFace, kind: CapabilityKind, scope: Scope, catalog: Catalog) -> list[dict[str, Any]]:
        """All of them; nobody may change them."""
        remembered = self._shown.get((face.key, kind, scope))
        if remembered is not None and remembered[0] is catalog:
            return remembered[1]
        own = [dict(each) for each in face.own] if kind is CapabilityKind.TOOL else []
        entries = own + [face.shown(pinned) for pinned in offered(face, kind, scope, catalog)]
        if len(self._shown) >= MOST_FACES:
            self._shown.clear()
        self._shown[face.key, kind, scope] = (catalog, entries)
        return entries

    def _window(self, params: Mapping[str, Any]) -> tuple[int, int]:
        limit = self._most if params.get("limit") is None else params["limit"]
        if type(limit) is not int or limit < 1:
            raise Rejected(INVALID_PARAMS, "limit must be a whole number from 1", "parameters")
        cursor = params.get("cursor")
        try:
            return 0 if cursor is None else cursors.decode(cursor), min(limit, self._most)
        except cursors.BadCursor as error:
            raise Rejected(INVALID_PARAMS, f"{error}; use the one that the list gave", "parameters") from error


def offered(face: AgentFace, kind: CapabilityKind, scope: Scope, catalog: Catalog) -> Iterator[Pinned]:
    """What a face shows within a scope, in order. The effects of a scope say what may be used of it. What would have
    the name of one of the face's own tools could not be called by it, and is not shown."""
    taken = {each["name"] for each in face.own} if kind is CapabilityKind.TOOL else set[str]()
    for shelf in face.shelves(catalog):
        for pinned in shelf.of(kind).values():
            if within(scope, pinned.capability) and not (taken and face.shown(pinned)["name"] in taken):
                yield pinned
