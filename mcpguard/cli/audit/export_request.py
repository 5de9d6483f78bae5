"""The request for an export, which the guard records before anything is read.

Rules kept here:
1. If a guard is running, it records the export, or nothing is exported. This process then reads the store itself, so
   that no call waits for it.
2. An export of a copy, or without a running guard, is not recorded, and the command reports that.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import typer

from mcpguard.app import places
from mcpguard.cli.shared.common import load_settings
from mcpguard.cli.shared.guard_client import API, GuardClient
from mcpguard.domain.errors import StoreUnavailable
from mcpguard.ledger import keys
from mcpguard.ledger.export.export import ExportSpan
from mcpguard.ledger.export.selection import Fitting
from mcpguard.settings.model import Settings
from mcpguard.store.engine.backend import Connection
from mcpguard.store.engine.offline import open_offline, place_from
from mcpguard.store.rows import chains, records

UNRECORDED = "no guard is running here to record this export, so the audit log does not mention it"
OF_A_COPY = "this is a copy, so its export is not recorded"


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """The options of an export."""

    forms: tuple[str, ...]
    chosen: Fitting
    after: int
    packed: bool
    bundle: bool
    bodies: bool
    chain: str | None

    def body(self, chain: str) -> dict[str, Any]:
        """The request to the guard."""
        said = {"forms": [*self.forms], "after": self.after, "chain": chain}
        flags = {"bundle": self.bundle, "bodies": self.bodies, "compressed": self.packed}
        return {**said, **flags, "q": self.chosen.text}


class Export:
    """An export of one chain of an open store."""

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
        """Have the export recorded; return its span. `after`: where a resumed export goes on."""
        asked = self.asked if after is None else replace(self.asked, after=after)
        guard = GuardClient(self._settings.data_dir)
        if self._live and guard.is_running():
            done = guard.send("POST", f"{API}/exports", asked.body(self.chain))
            self.exported = (done["record"]["chain"], done["record"]["seq"])
            return ExportSpan(self.chain, asked.after, done["upto"], asked.chosen)
        typer.echo(f"mcpguard: {UNRECORDED if self._live else OF_A_COPY}", err=True)
        last = records.last_record(self.connection, self.chain)
        self.connection.rollback()
        return ExportSpan(self.chain, asked.after, max(asked.after, last[0] if last else 0), asked.chosen)

    def key(self) -> keys.SigningKey:
        """The signing key of this guard."""
        return keys.load(places.signing_key(self._settings))


@contextmanager
def open_export(asked: ExportRequest, path: str | None, config: Path | None, data_dir: Path | None) -> Iterator[Export]:
    """Open the store and the chain to export. Raises StoreUnavailable."""
    settings = load_settings(config, data_dir=data_dir).settings
    place = places.database(settings) if path is None else place_from(path)
    with open_offline(place) as connect, connect() as connection:
        every = chains.list_chains(connection)
        if not every:
            raise StoreUnavailable("nothing has been recorded yet")
        chain = every[-1] if asked.chain is None else asked.chain
        if chain not in every:
            raise StoreUnavailable("there is no such chain; choose from " + ", ".join(every[-10:]))
        yield Export(asked, chain, connection, settings, live=path is None)
