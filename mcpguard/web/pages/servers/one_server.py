"""What every page of one server begins with: its name, its status, and whose decision that is."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Final

from fastapi import Request
from fastapi.responses import HTMLResponse

from mcpguard.codec.filters import MOST_WILD
from mcpguard.domain.calls.records import RecordKind
from mcpguard.domain.decisions import CapabilityKey
from mcpguard.domain.errors import StoreUnavailable
from mcpguard.domain.filters import Filter, FilterKey, FilterTerm
from mcpguard.domain.json import Json
from mcpguard.domain.people import Right
from mcpguard.domain.servers.standing import UpstreamStanding
from mcpguard.guard.guard import Guard
from mcpguard.guard.servers.registry import ServerState
from mcpguard.web.pages.base.console import Console, principal

TAKEN: Final = "add"
"""What comes after `/servers/` and is no server: one of this name has its review elsewhere."""
ABOUT: Final = tuple(kind.value for kind in (RecordKind.DECIDED, RecordKind.MOVED, RecordKind.ADMITTED))
_CALLS: Final = (RecordKind.OPENED.value, RecordKind.CLOSED.value)
_LOOKED_THROUGH: Final = 200
"""Records of a server, for the newest about itself."""


def path_of(name: str) -> str:
    """Return the URL of a server's review."""
    return f"/servers/{name}/review" if name == TAKEN else f"/servers/{name}"


class OneServer:
    """Shows the pages of one server."""

    def __init__(self, guard: Guard, desk: Console) -> None:
        self._guard = guard
        self._desk = desk

    def find(self, name: str) -> ServerState | None:
        return self._guard.servers.find(name)

    def missing(self, request: Request, name: str) -> HTMLResponse:
        """Show that there is no server of this name."""
        names = [known.name for known in self._guard.servers.every()]
        near = get_close_matches(name[:100], names, 1)
        more = f" Did you mean {near[0]}?" if near else ""
        return self._desk.missing(request, f"No server has the name {name[:100]}.{more}")

    async def page(
        self,
        request: Request,
        known: ServerState,
        tab: str,
        template: str,
        code: int = 200,
        /,
        server: Json | None = None,
        **values: object,
    ) -> HTMLResponse:
        """Show a page of this server; `tab` is the page, `server` what is known of it if that was queried already."""
        server = server or await self._guard.queries.server(known.name)
        audits = principal(request).may(Right.AUDIT)
        return await self._desk.long_page(
            request,
            "servers",
            template,
            code,
            tab=tab,
            server=server,
            known=known,
            here=path_of(known.name),
            latest=await self._latest(known) if audits else None,
            present=server["present"],
            approved=server["approved_now"],
            is_new=known.upstream.standing is UpstreamStanding.QUARANTINED and known.upstream.waits,
            **values,
        )

    async def records(self, name: str, kinds: Sequence[str], limit: int) -> tuple[Json, ...]:
        """Return the newest records of these kinds about a server; none if the log cannot be read now."""
        terms = FilterTerm(FilterKey.SERVER, (name,)), FilterTerm(FilterKey.KIND, tuple(kinds))
        try:
            page = await self._guard.auditing.page(Filter(terms), None, limit, newest_first=True)
        except StoreUnavailable:
            return ()
        return tuple({"seq": each["seq"], **each["content"]} for each in page.records if each["content"])

    async def calls(self, name: str, limit: int, key: CapabilityKey | None = None) -> list[Json]:
        """Return the newest calls of a server, or of one of its capabilities, each with its outcome if it has ended."""
        terms = [FilterTerm(FilterKey.SERVER, (name,)), FilterTerm(FilterKey.KIND, _CALLS)]
        if key is not None:
            terms += [FilterTerm(FilterKey.NAME, (key[1],))] if sum(map(key[1].count, "*?")) <= MOST_WILD else []
        try:
            page = await self._guard.auditing.page(Filter(tuple(terms)), None, 2 * limit, newest_first=True)
        except StoreUnavailable:
            return []
        found: dict[str, Json] = {}
        for each in page.records:
            content = each["content"] or {}
            if "entry" in content:
                found[content["entry"]] = {"seq": each["seq"], **found.get(content["entry"], {}), **content}
        opened = [each for each in found.values() if "verdict" in each and (key is None or each["name"] == key[1])]
        return opened[:limit]

    async def _latest(self, known: ServerState) -> Mapping[str, Any] | None:
        """Return the newest record about the server itself, not about one of its capabilities."""
        found = await self.records(known.name, ABOUT, _LOOKED_THROUGH)
        own = (each for each in found if "capability" not in each and each.get("upstream") == known.upstream.id)
        return next(own, None)
