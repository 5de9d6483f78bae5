"""What is to be exported, and that the guard records it before anything is read.

Rules kept here:
1. Where a guard runs, it records the export, or nothing is exported. This process reads the store itself then, so that
   no call waits for it.
2. Of a copy, and where no guard runs, nobody keeps a record; that is said.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import typer

from mcpguard.app import places
from mcpguard.cli.shared.common import loaded
from mcpguard.cli.shared.guard_client import API, Operator
from mcpguard.domain.errors import StoreUnavailable
from mcpguard.ledger import keys
from mcpguard.ledger.export.export import ExportSpan
from mcpguard.ledger.export.selection import Fitting
from mcpguard.settings.model import Settings
from mcpguard.store.engine.backend import Connection
from mcpguard.store.engine.offline import place_from, reading
from mcpguard.store.rows import chains, records

UNRECORDED = "no guard runs here that could record this export, so the log does not say that it was made"
OF_A_COPY = "this is a copy: no record is made of its export"


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """What somebody wants to have."""

    forms: tuple[str, ...]
    chosen: Fitting
    after: int
    packed: bool
    bundle: bool
    bodies: bool
    chain: str | None

    def body(self, chain: str) -> dict[str, Any]:
        """As the guard is told."""
        said = {"forms": [*self.forms], "after": self.after, "chain": chain}
        flags = {"bundle": self.bundle, "bodies": self.bodies, "compressed": self.packed}
        return {**said, **flags, "q": self.chosen.text}


class Export:
    """An export of one chain of one store, which is open."""

    def __init__(
        self, asked: ExportRequest, chain: str, connection: Connection, settings: Settings, *, live: bool
    ) -> None:
        self.asked = asked
        self.chain = chain
        self.connection = connection
        self.exported: tuple[str, int] | None = None
        """The record that says so."""
        self._settings = settings
        self._live = live

    def begin(self, after: int | None = None) -> ExportSpan:
        """What is exported, once that is recorded. `after`: where it goes on, in place of what was asked for."""
        asked = self.asked if after is None else replace(self.asked, after=after)
        operator = Operator(self._settings.data_dir)
        if self._live and operator.runs():
            done = operator.send("POST", f"{API}/exports", asked.body(self.chain))
            self.exported = (done["record"]["chain"], done["record"]["seq"])
            return ExportSpan(self.chain, asked.after, done["upto"], asked.chosen)
        typer.echo(f"mcpguard: {UNRECORDED if self._live else OF_A_COPY}", err=True)
        last = records.last(self.connection, self.chain)
        self.connection.rollback()
        return ExportSpan(self.chain, asked.after, max(asked.after, last[0] if last else 0), asked.chosen)

    def key(self) -> keys.SigningKey:
        """The key with which this guard signs."""
        return keys.load(places.signing_key(self._settings))


@contextmanager
def given(asked: ExportRequest, path: str | None, config: Path | None, data_dir: Path | None) -> Iterator[Export]:
    """The store and the chain that are meant. Raises StoreUnavailable."""
    settings = loaded(config, data_dir=data_dir).settings
    place = places.database(settings) if path is None else place_from(path)
    with reading(place) as connect, connect() as connection:
        every = chains.every(connection)
        if not every:
            raise StoreUnavailable("nothing has been recorded yet")
        chain = every[-1] if asked.chain is None else asked.chain
        if chain not in every:
            raise StoreUnavailable("there is no such chain; there are " + ", ".join(every[-10:]))
        yield Export(asked, chain, connection, settings, live=path is None)
