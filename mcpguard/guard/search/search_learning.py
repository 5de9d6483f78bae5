"""Learns from use: which searches led callers to which tools.

Rules kept here:
1. A use is a call that the same caller made shortly after a search that showed the tool, and that the server executed
   and answered without an error. What is refused, held or failed teaches nothing; nor does a call of a program or of a
   person, a page of an earlier reply, or anything that a server says.
2. No call waits for this or fails by it: a call that has ended is paired in memory, and recorded later.
3. Only what is recorded is learned, at most once a day for each caller, tool and query. After a start, and every
   `AGAIN_SECONDS`, all of it is read from the records, so that what was pruned is forgotten.
4. A query that looks like a secret is not recorded.
5. Where learning is off, nothing is paired, recorded or known. What was recorded before can be forgotten there too,
   because it would count again once learning is on.
"""

from collections import deque
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from typing import Final

import anyio
import structlog
from anyio.lowlevel import checkpoint

from mcpguard.catalog.search.learned_weights import ToolName
from mcpguard.domain.callers import Scope
from mcpguard.domain.calls.outcomes import Executed, OutcomeKind
from mcpguard.domain.calls.records import Opening, RecordKind
from mcpguard.domain.capabilities import CapabilityKind
from mcpguard.domain.decisions import Decision, Unknown
from mcpguard.domain.errors import LedgerUnavailable, StoreUnavailable, Unrecordable
from mcpguard.guard.people.users import require_reason
from mcpguard.guard.search.recent_searches import RecentSearches
from mcpguard.guard.search.search_uses import SearchUse, SearchUses, UsedTool
from mcpguard.guard.search.use_records import forgotten_fields, read_uses, used_fields
from mcpguard.guard.servers.registry import ServerState
from mcpguard.guard.traffic.events import CallEvents, EndedCall
from mcpguard.guard.traffic.tallies import recorded_query
from mcpguard.ledger.ledger import Ledger
from mcpguard.store.engine.readers import Readers

MOST_WAITING: Final = 1_000
"""Uses that wait to be recorded; more are dropped."""
AGAIN_SECONDS: Final = 3600.0
AT_ONCE: Final = 200
"""Uses that are added before others have their turn."""
Lost = Callable[[str], None]
log = structlog.get_logger("mcpguard.guard")


@dataclass(frozen=True, slots=True)
class KnownCallers:
    """What is known of callers: the scope of one that holds, and a way to hear of those that end."""

    scope_of: Callable[[str], Scope | None]
    ending: Callable[[Lost], AbstractContextManager[None]]


@dataclass(frozen=True, slots=True)
class PairedCall:
    """A call that has ended, and the query that led to it."""

    opening: Opening
    tool: UsedTool
    query: str
    at: int


class SearchLearning:
    """Keeps the uses of searches. Nothing is recorded or read unless `run` runs. `enabled`: whether anything is
    learned."""

    def __init__(
        self,
        readers: Readers,
        ledger: Ledger,
        events: CallEvents,
        callers: KnownCallers,
        find: Callable[[str], ServerState | None],
        *,
        enabled: bool,
    ) -> None:
        self.enabled = enabled
        self.uses = SearchUses()
        self.callers = callers
        self._find = find
        self.ended = 0
        """How many callers have ended."""
        self._readers = readers
        self._ledger = ledger
        self._clock = events.clock
        self._events = events
        self._recent = RecentSearches(events.clock)
        self._listens = False
        self._waiting: deque[PairedCall] = deque(maxlen=MOST_WAITING)
        self._news = anyio.Event()
        self._lock = anyio.Lock()

    @property
    def waiting(self) -> int:
        """How many uses are not recorded yet."""
        return len(self._waiting)

    def note_search(self, caller: str, query: str, shown: Iterable[ToolName]) -> None:
        """Take note of a search, and of the tools that its answer showed."""
        if not self.enabled:
            return
        if not self._listens:  # calls in a guard in which nobody searches cost nothing more
            self._listens = True
            self._events.subscribe(self._note_call)
        self._recent.add(caller, query, shown)

    def tool_now(self, server: str, name: str) -> UsedTool | None:
        """Return a tool in the version that is approved now; None if it cannot be called."""
        known = self._find(server)
        pin = known.pins.get((CapabilityKind.TOOL, name)) if known is not None else None
        if pin is None or not pin.callable or pin.approved is None:
            return None
        return UsedTool(server, name, pin.upstream, pin.approved.text)

    async def run(self) -> None:
        """Read what was recorded, and record what comes, until cancelled."""
        with self.callers.ending(self._end_caller):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._record, name="uses of searches")
                while True:
                    await self._read()
                    await self._clock.sleep(AGAIN_SECONDS)

    async def forget(self, tool: ToolName | None, decision: Decision) -> None:
        """Forget what was learned of a tool, in every version; None stands for all tools.

        Raises Unknown, ActorRevoked, Undecidable or LedgerUnavailable; then nothing is forgotten.
        """
        require_reason(decision)
        if tool is not None and not self._has_listed(*tool):
            raise Unknown(f"the server {tool[0]} has never listed a tool of the name {tool[1]}")
        fields = forgotten_fields(tool, decision)
        # Whoever asked may be gone before it is stored: what is recorded as forgotten is forgotten here too.
        with anyio.CancelScope(shield=True):
            async with self._lock:
                decision.by.check()
                await self._ledger.transact(lambda _, append: append(RecordKind.SEARCH_FORGOTTEN, fields))
                waiting = [one for one in self._waiting if tool not in (None, (one.tool.server, one.tool.name))]
                self._waiting = deque(waiting, MOST_WAITING)
                self.uses.forget(lambda use: tool in (None, (use.tool.server, use.tool.name)))

    def _has_listed(self, server: str, name: str) -> bool:
        known = self._find(server)
        return known is not None and (CapabilityKind.TOOL, name) in known.pins

    def _note_call(self, ended: EndedCall) -> None:
        opening, outcome, pin = ended.opening, ended.outcome, ended.pin
        named = opening.capability
        query = self._recent.query_before(opening.caller.id, (named.server, named.name))
        if query is None or pin is None or opening.fingerprint is None or named.kind is not CapabilityKind.TOOL:
            return
        if outcome.kind is not OutcomeKind.ANSWERED or outcome.executed is not Executed.YES or outcome.reason:
            return
        if opening.parent or opening.by or opening.continues:
            return
        tool = UsedTool(named.server, named.name, pin.upstream, opening.fingerprint.text)
        self._waiting.append(PairedCall(opening, tool, query, self._clock.now()))
        self._news.set()

    async def _record(self) -> None:
        while True:
            self._news = anyio.Event()
            while self._waiting:
                async with self._lock:
                    await self._record_next()
            await self._news.wait()

    async def _record_next(self) -> None:
        if not self._waiting:
            return
        paired = self._waiting.popleft()
        query = recorded_query(paired.query).get("query")
        use = SearchUse(paired.opening.caller.id, paired.tool, str(query or ""), paired.at)
        stems = use.stems()
        if not stems or self.uses.is_known(use) or self.callers.scope_of(use.caller) is None:
            return
        try:
            await self._ledger.note(RecordKind.SEARCH_USED, used_fields(use, paired.opening))
        except (LedgerUnavailable, Unrecordable):
            return  # what is not recorded is not learned
        self.uses.add(use, stems)

    async def _read(self) -> None:
        async with self._lock:
            try:
                found = await self._readers.run(partial(read_uses, chain=self._ledger.chain.id))
            except StoreUnavailable as error:
                log.warning("search.not_learned", why=str(error))
                return
            uses, ended = SearchUses(), self.ended
            for number, (use, stems) in enumerate(found):
                if number % AT_ONCE == 0:
                    await checkpoint()
                if self.callers.scope_of(use.caller) is not None:
                    uses.add(use, stems)
            if self.ended != ended:  # while others had their turn
                uses.forget(lambda use: self.callers.scope_of(use.caller) is None)
            self.uses = uses

    def _end_caller(self, caller: str) -> None:
        self.ended += 1
        self._recent.end_caller(caller)
        self.uses.forget(lambda use: use.caller == caller)
