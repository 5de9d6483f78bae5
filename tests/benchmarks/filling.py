"""A long ledger in a short time: the guard's own chain and store, without the event loop and with nobody waiting."""

from collections import deque
from dataclasses import dataclass

from mcpguard.app import places
from mcpguard.app.clock import SystemClock, new_id
from mcpguard.domain.calls.outcomes import Outcome
from mcpguard.domain.calls.records import RecordKind
from mcpguard.domain.capabilities import Effect
from mcpguard.ledger import keys
from mcpguard.ledger.chain import Chain
from mcpguard.ledger.format import Fields, call_fields, closing_fields, opening_fields
from mcpguard.settings.model import Settings
from mcpguard.store.engine.durability import Durability
from mcpguard.store.engine.schema import upgrade
from tests.benchmarks import calls

_EFFECTS = (Effect.READ, Effect.READ, Effect.READ, Effect.WRITE, Effect.DESTRUCTIVE)
_OPEN_AT_ONCE = 20


@dataclass
class _Source:
    """Calls without end, some of them open at any time."""

    chain: Chain
    kept: bool
    made: int = 0

    def __post_init__(self) -> None:
        self._open: deque[tuple[str, Fields]] = deque()

    def start(self) -> None:
        self.chain.append(RecordKind.STARTED, {"version": "benchmark", "key": self.chain.public_key})

    def call(self) -> None:
        """Open one, and close the one that has been open longest."""
        self.made += 1
        arguments = {"arguments": calls.kept(self.made)} if self.kept else {}
        opening = calls.opening(new_id(), self.made, _EFFECTS[self.made % len(_EFFECTS)], **arguments)
        fields = opening_fields(opening)
        self.chain.append(RecordKind.OPENED, fields, opening.arguments)
        self._open.append((opening.entry, call_fields(fields)))
        if len(self._open) > _OPEN_AT_ONCE:
            self.close()

    def close(self) -> None:
        outcome = Outcome.answer(calls.kept(3 * self.made)) if self.kept else calls.answered()
        entry, call = self._open.popleft()
        fields = closing_fields(entry, outcome, 1000 + self.made % 9000, call)
        self.chain.append(RecordKind.CLOSED, fields, outcome.reply)


def fill(settings: Settings, records: int, *, kept: bool = True) -> None:
    """Begin a chain and add this many records to it (a few more), as the writer's thread would. `kept`: whether every
    record has its body stored, as the guard does unless it is told otherwise; else only the digest."""
    backend = places.backend(settings)
    upgrade(backend)
    every = settings.audit.checkpoint_records
    chain = Chain(keys.load_or_make(places.signing_key(settings)), every, SystemClock(), new_id)
    source = _Source(chain, kept)
    connection = backend.connect()
    while 2 * source.made < records:
        backend.begin(connection, Durability.COMMITTED)
        chain.begin(connection)
        if not source.made:
            source.start()
        for _ in range(every // 2):
            source.call()
        chain.prepare(connection)
        backend.commit(connection)
        chain.confirm()
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("ANALYZE")  # a server in use does so by itself; without, it misjudges every page
        connection.commit()
    connection.close()
    backend.dispose()
