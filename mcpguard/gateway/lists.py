"""Lists of capabilities, page by page, as a face shows them to a caller."""

from collections.abc import Iterator, Mapping
from typing import Any

from mcpguard.catalog.catalog import Catalog
from mcpguard.catalog.shelf import CatalogEntry
from mcpguard.codec import cursors
from mcpguard.domain.callers import Scope
from mcpguard.domain.capabilities import CapabilityKind
from mcpguard.domain.servers.listings import KEYS
from mcpguard.gateway.faces.face import AgentFace
from mcpguard.gateway.wire import INVALID_PARAMS, RequestRejected
from mcpguard.policy.scopes import is_in_scope

KINDS = {
    "tools/list": (CapabilityKind.TOOL, "tools"),
    "resources/list": (CapabilityKind.RESOURCE, "resources"),
    "resources/templates/list": (CapabilityKind.TEMPLATE, "resourceTemplates"),
    "prompts/list": (CapabilityKind.PROMPT, "prompts"),
}
MOST_FACES = 256
Shown = tuple[Catalog, list[dict[str, Any]]]


class ShownLists:
    """Remembers the lists that were shown, for as long as the catalog stays the same."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._shown: dict[tuple[str, CapabilityKind, Scope], Shown] = {}

    def page(
        self, face: AgentFace, scope: Scope, catalog: Catalog, method: str, params: Mapping[str, Any]
    ) -> tuple[dict[str, Any], list[str]]:
        """Return a page, and the names on it."""
        kind, key = KINDS[method]
        offset, limit = self._window(params)
        entries = self.entries(face, kind, scope, catalog)
        page = entries[offset : offset + limit]
        result: dict[str, Any] = {key: page}
        if offset + limit < len(entries):
            result["nextCursor"] = cursors.encode(offset + limit)
        return result, [str(entry[KEYS[kind]]) for entry in page]

    def entries(self, face: AgentFace, kind: CapabilityKind, scope: Scope, catalog: Catalog) -> list[dict[str, Any]]:
        """Return all entries of a list, which callers must not change."""
        remembered = self._shown.get((face.key, kind, scope))
        if remembered is not None and remembered[0] is catalog:
            return remembered[1]
        own = [dict(each) for each in face.own] if kind is CapabilityKind.TOOL else []
        entries = own + [face.shown_definition(pinned) for pinned in offered_capabilities(face, kind, scope, catalog)]
        if len(self._shown) >= MOST_FACES:
            self._shown.clear()
        self._shown[face.key, kind, scope] = (catalog, entries)
        return entries

    def _window(self, params: Mapping[str, Any]) -> tuple[int, int]:
        limit = self._most if params.get("limit") is None else params["limit"]
        if type(limit) is not int or limit < 1:
            raise RequestRejected(INVALID_PARAMS, "limit must be a whole number from 1", "parameters")
        cursor = params.get("cursor")
        try:
            return 0 if cursor is None else cursors.decode(cursor), min(limit, self._most)
        except cursors.BadCursor as error:
            raise RequestRejected(
                INVALID_PARAMS, f"{error}; use a cursor that the list returned", "parameters"
            ) from error


def offered_capabilities(
    face: AgentFace, kind: CapabilityKind, scope: Scope, catalog: Catalog
) -> Iterator[CatalogEntry]:
    """Yield what a face shows within a scope, in order. A capability under the name of one of the face's own tools
    could not be called, and is not shown. A scope's effects limit use, not visibility.
    """
    taken = {each["name"] for each in face.own} if kind is CapabilityKind.TOOL else set[str]()
    for shelf in face.shelves(catalog):
        for pinned in shelf.entries_of(kind).values():
            if is_in_scope(scope, pinned.capability) and not (taken and face.shown_definition(pinned)["name"] in taken):
                yield pinned
