"""Searches tools by what they do, in an index that follows the catalog.

Rules kept here:
1. Only tools that agents may find and call are found. A tool that leaves the catalog is not found from that moment on,
   even if the index lags behind.
2. Texts are prepared in a thread, one server after another; a search never waits for that, and an unchanged list of
   tools is not prepared again.
3. A server whose texts cannot be prepared is logged and not found; nothing else is affected.
4. What tools mean is followed after their words, so that no tool waits for it to be found (`tool_meanings`).
5. What is learned from use counts for tools that are approved in exactly the version that was called, and only in views
   in which the caller's own tools are all visible (`counted_uses`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

import anyio
import structlog
from anyio import CapacityLimiter, to_thread

from mcpguard.catalog.catalog import Catalog
from mcpguard.catalog.search.index import Index
from mcpguard.catalog.search.match_explanation import ToolExplanation
from mcpguard.catalog.search.prepared_tools import prepare_server
from mcpguard.catalog.search.search import Allowed, Rescore, View
from mcpguard.catalog.search.thesaurus import prepare_thesaurus
from mcpguard.catalog.shelf import CatalogEntry
from mcpguard.domain.callers import Scope
from mcpguard.domain.capabilities import Capability, CapabilityKind, Effect
from mcpguard.guard.search.context_use import ContextUse
from mcpguard.guard.search.counted_uses import CountedUses
from mcpguard.guard.search.learned_summary import LearnedSummary, summarize
from mcpguard.guard.search.search_learning import SearchLearning
from mcpguard.guard.search.search_uses import UsedTool
from mcpguard.guard.servers.publisher import CatalogChange, Publisher
from mcpguard.policy.scopes import is_in_scope

if TYPE_CHECKING:  # loaded only where the setting `search.semantic` is on
    from mcpguard.catalog.search.semantic.model_weights import Array
    from mcpguard.guard.search.tool_meanings import ToolMeanings

MOST_VIEWS = 256
EVERYTHING: Final = Scope(("*",), ("*",), frozenset(Effect))
Tools = Mapping[str, CatalogEntry]
log = structlog.get_logger("mcpguard.guard")
_TOOL = CapabilityKind.TOOL


@dataclass(frozen=True, slots=True)
class SearchScope:
    """What may be found in a search: in which scope, with which effects, of which servers (None: all of them)."""

    scope: Scope
    effects: frozenset[Effect]
    servers: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class ToolHit:
    """A tool that matches, and how well."""

    pinned: CatalogEntry
    score: float


@dataclass(frozen=True, slots=True)
class ExplainedHit:
    """A tool that matches, and why. `exact`: its name is the query, or is said in it."""

    hit: ToolHit
    why: ToolExplanation
    exact: bool


@dataclass(frozen=True, slots=True)
class ExplainedHits:
    """The best matches with why; how many tools could have been found at all; the words that none of them has."""

    hits: tuple[ExplainedHit, ...]
    total: int
    unmatched: tuple[str, ...]


class ToolSearch:
    """Searches an index of approved tools. New tools are only found while `run` runs. `meanings`: by which tools are
    also ranked, `learning`: what is learned from use; None where they are not, and where nothing is.
    """

    def __init__(
        self, publisher: Publisher, meanings: "ToolMeanings | None" = None, learning: SearchLearning | None = None
    ) -> None:
        self.context_use = ContextUse()
        self.learning = learning if learning is not None and learning.enabled else None
        self._publisher = publisher
        self._meanings = meanings
        self._index = Index()
        self._catalog: Catalog | None = None
        self._catalogs = 0
        self._followed: dict[str, Tools] = {}
        self._views: dict[Scope, View] = {}
        self._limiter = CapacityLimiter(1)
        self._changed = anyio.Event()

    async def run(self) -> None:
        """Follow the catalog, until cancelled."""
        with self._publisher.subscription(self._tell):
            while True:
                self._changed = anyio.Event()
                await self._follow()
                if self._followed:
                    await to_thread.run_sync(prepare_thesaurus, limiter=self._limiter)
                if self._meanings is not None:
                    indexed = {server: self._followed[server] for server in self._index.shelves}
                    await self._meanings.follow(indexed, self._changed.is_set)
                await self._changed.wait()

    async def meaning(self, query: str) -> "Array | None":
        """What a query means, for `search`; None where tools are ranked by words alone."""
        return None if self._meanings is None else await self._meanings.of_query(query)

    def search(
        self, query: str, limit: int, wish: SearchScope, meaning: "Array | None" = None
    ) -> tuple[list[ToolHit], int]:
        """The best matches, and how many tools could have been found at all."""
        catalog, view = self._publisher.catalog, self._view(wish.scope)
        found = view.search(query, limit, _wanted(catalog, wish), self._rescore(meaning, catalog))
        hits = ((each, catalog.find(each.server, _TOOL, each.name)) for each in found)
        return [ToolHit(pinned, each.score) for each, pinned in hits if pinned is not None], view.count()

    def explain(self, query: str, limit: int, wish: SearchScope, meaning: "Array | None" = None) -> ExplainedHits:
        """The best matches, as `search` finds them, with why."""
        catalog, view = self._publisher.catalog, self._view(wish.scope)
        explained = view.explain(query, limit, _wanted(catalog, wish), self._rescore(meaning, catalog))
        hits = tuple(
            ExplainedHit(ToolHit(pinned, found.score), why, found.exact)
            for found, why in explained.tools
            if (pinned := catalog.find(found.server, _TOOL, found.name)) is not None
        )
        return ExplainedHits(hits, view.count(), explained.unmatched)

    def _rescore(self, meaning: "Array | None", catalog: Catalog) -> Rescore | None:
        if self._meanings is None or meaning is None:
            return None
        return partial(self._meanings.scores, meaning, catalog)

    def learned_words(self, server: str, name: str) -> LearnedSummary:
        """What use has taught of a tool, from all callers together."""
        counted = self._counted(EVERYTHING)
        if self.learning is None or counted is None:
            return LearnedSummary((), 0, enabled=False)
        if (tool := self.learning.tool_now(server, name)) is None:
            return LearnedSummary((), 0)
        return summarize(self.learning.uses, counted, tool)

    def count_list(self, scope: Scope, shown: int) -> None:
        """Count a list of the guard's own tools, of this many bytes, that was shown in place of all tools in a
        scope."""
        self.context_use.count_list(self._view(scope).size(), shown)

    def _tell(self, changed: CatalogChange) -> None:
        if _TOOL in changed.kinds and not changed.by:
            self._changed.set()

    async def _follow(self) -> None:
        for server in self._behind(self._publisher.catalog):
            shelf = self._publisher.catalog.shelves.get(server)
            if shelf is None:
                self._index.remove_server(server)
                self._followed.pop(server, None)
                continue
            tools = self._followed[server] = shelf.entries_of(_TOOL)
            definitions = [pinned.definition for pinned in tools.values()]
            since = {name: pinned.approved_since for name, pinned in tools.items()}
            try:
                ready = await to_thread.run_sync(prepare_server, server, definitions, since, limiter=self._limiter)
            except Exception:
                log.exception("search.failed", server=server)
                self._index.remove_server(server)
            else:
                self._index.set_server(ready)

    def _behind(self, catalog: Catalog) -> list[str]:
        gone = [name for name in self._followed if name not in catalog.shelves]
        return gone + [
            name for name, shelf in catalog.shelves.items() if self._followed.get(name) != shelf.entries_of(_TOOL)
        ]

    def _view(self, scope: Scope) -> View:
        view = self._views.get(scope)
        if view is None:
            if len(self._views) >= MOST_VIEWS:
                self._views.clear()
            view = self._views[scope] = View(
                self._index,
                lambda server, name: is_in_scope(scope, Capability(server, _TOOL, name)),
                self._counted(scope),
            )
        return view

    def _counted(self, scope: Scope) -> CountedUses | None:
        learning = self.learning
        if learning is None:
            return None

        def counts(caller: str) -> bool:
            other = learning.callers.scope_of(caller)
            return other is not None and (other == scope or self._view(other).visible() <= self._view(scope).visible())

        def is_current(tool: UsedTool) -> bool:
            return learning.tool_now(tool.server, tool.name) == tool

        return CountedUses(lambda: learning.uses, counts, is_current, self._generation)

    def _generation(self) -> tuple[int, ...]:
        """Return something else whenever other uses may count than before."""
        catalog = self._publisher.catalog
        if catalog is not self._catalog:
            self._catalog = catalog
            self._catalogs += 1
        return self._catalogs, self._index.version, self.learning.ended if self.learning is not None else 0


def _wanted(catalog: Catalog, wish: SearchScope) -> Allowed:
    def wanted(server: str, name: str) -> bool:
        if wish.servers is not None and server not in wish.servers:
            return False
        # The index may lag behind: what left the catalog must not be found, not even for a moment.
        pinned = catalog.find(server, _TOOL, name)
        return pinned is not None and pinned.effect in wish.effects

    return wanted
