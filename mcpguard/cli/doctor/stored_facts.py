"""What the checks need from the store, read once, so that an unresponsive database delays them only once.

Rules kept here:
1. The store is read as `mcpguard audit` reads it: nothing is written and no file is created, even while a guard writes.
2. Only a few rows are read, by key. Verifying the log is the task of `mcpguard audit verify`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mcpguard.app import places
from mcpguard.domain.errors import GuardError
from mcpguard.domain.json import SettingValue
from mcpguard.domain.servers.upstreams import Upstream
from mcpguard.ledger.rotations import signing_key_of
from mcpguard.settings.model import Settings
from mcpguard.store.engine.backend import Connection
from mcpguard.store.engine.offline import open_offline, place_name
from mcpguard.store.engine.schema import SchemaState, schema_of
from mcpguard.store.rows import chains, checkpoints, confirmed_settings, records, upstreams
from mcpguard.store.search import record_search

_AT: Final = records.COLUMNS.index("at")


@dataclass(frozen=True, slots=True)
class StoredFacts:
    """`place`: the name of the database. `there`: whether it exists. `trouble`: why it cannot be read; then the rest is
    unknown. `records`: the number of the newest record; `at`: its time in microseconds. `signed_to`: the record of the
    newest checkpoint; `key`: the public key that signs what comes next."""

    place: str
    there: bool
    trouble: str = ""
    schema: SchemaState | None = None
    chain: str = ""
    records: int = 0
    at: int = 0
    signed_to: int = 0
    key: str = ""
    confirmed: Mapping[str, SettingValue] | None = None
    upstreams: tuple[Upstream, ...] = ()

    @property
    def was_read(self) -> bool:
        """Whether the store was read; if not, the other fields are unknown."""
        return self.confirmed is not None


def read_stored_facts(settings: Settings) -> StoredFacts:
    """Read what the database says now."""
    try:
        where = places.database(settings)
    except GuardError as error:
        return StoredFacts("the database", there=True, trouble=str(error))
    place = place_name(where)
    if isinstance(where, Path) and not _there(where):
        return StoredFacts(place, there=False)
    try:
        with open_offline(where, older=True) as connect, connect() as connection:
            return _read(connection, place)
    except (GuardError, ImportError, OSError, ValueError, LookupError, TypeError) as error:
        return StoredFacts(place, there=True, trouble=str(error) or type(error).__name__)


def _there(path: Path) -> bool:
    """Tell whether the file exists; yes if that cannot be told."""
    try:
        return path.exists()
    except OSError:
        return True


def _read(connection: Connection, place: str) -> StoredFacts:
    schema = schema_of(connection)
    if schema.found != schema.newest:  # its tables may be others
        return StoredFacts(place, there=True, schema=schema)
    chain = chains.newest(connection) or ""
    newest = records.last_record(connection, chain)
    last = record_search.record_at(connection, chain, newest[0]) if newest else None
    checkpoint = checkpoints.last_checkpoint(connection, chain)
    return StoredFacts(
        place,
        there=True,
        schema=schema,
        chain=chain,
        records=newest[0] if newest else 0,
        at=int(last.columns[_AT] or 0) if last else 0,
        signed_to=checkpoint.seq if checkpoint else 0,
        key=signing_key_of(connection, chain),
        confirmed=confirmed_settings.confirmed_values(connection),
        upstreams=tuple(each for each in upstreams.list_upstreams(connection) if not each.removed),
    )
