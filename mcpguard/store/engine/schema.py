"""Upgrades a database to the schema of this version.

Rules kept here:
1. An upgrade runs under a lock in one transaction: a failed one leaves the database unchanged.
2. An unknown schema is refused, because a newer version of mcpguard created it.
3. A SQLite file is copied before its schema is upgraded.
4. Whether a database has the newest schema is read with one query; the migrations are loaded only where it has not.
"""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, inspect, text
from sqlalchemy.exc import SQLAlchemyError

from mcpguard import __version__
from mcpguard.domain.errors import StoreUnavailable
from mcpguard.store.engine.backend import Backend, cause
from mcpguard.store.engine.durability import Durability

NEWEST: Final = "0020"
"""The schema that the migrations of this version lead to."""
_TABLE: Final = "alembic_version"


@dataclass(frozen=True, slots=True)
class Upgrade:
    """The result of an upgrade: the schema before (None: the database was new) and after, and the backup."""

    before: str | None
    after: str
    backup: Path | None = None


@dataclass(frozen=True, slots=True)
class SchemaState:
    """The schema of a database, the newest that this version knows, and whether the former is known."""

    found: str | None
    newest: str
    known: bool


def schema_of(connection: Connection) -> SchemaState:
    """Return the state of the schema, without writing. Raises StoreUnavailable."""
    if _is_newest(connection):
        return SchemaState(NEWEST, NEWEST, known=True)
    from mcpguard.store.engine.migrations import current_schema, read_migrations  # noqa: PLC0415 - rule 4

    found, ours = current_schema(connection), read_migrations()
    return SchemaState(found, ours.newest, found is None or found in ours.known)


def upgrade(backend: Backend, scripts: Path | None = None) -> Upgrade:
    """Upgrade the database to the newest schema of `scripts`. Raises StoreUnavailable."""
    connection, aim = backend.connect(), NEWEST
    try:
        backend.begin(connection, Durability.SYNCED)
        backend.upgrade_lock(connection)
        if scripts is None and _is_newest(connection):
            return Upgrade(NEWEST, NEWEST)
        from mcpguard.store.engine.migrations import current_schema, read_migrations  # noqa: PLC0415 - rule 4

        ours = read_migrations(scripts)
        before, aim = current_schema(connection), ours.newest
        if before == aim:
            return Upgrade(before, aim)
        _refuse_unknown(ours.known, backend, before, aim)
        backup = backend.back_up(before) if before else None
        ours.run(connection)
        connection.commit()
        return Upgrade(before, aim, backup)
    except SQLAlchemyError as error:
        raise StoreUnavailable(
            f"{backend.name} could not be upgraded to schema {aim}: {cause(error)}. It is unchanged"
        ) from error
    finally:
        connection.close()


def _is_newest(connection: Connection) -> bool:
    """Tell whether the database has the newest schema, and no other beside it."""
    if not inspect(connection).has_table(_TABLE):
        return False
    return connection.scalars(text(f"SELECT version_num FROM {_TABLE}")).all() == [NEWEST]  # noqa: S608 - a constant


def _refuse_unknown(known: AbstractSet[str], backend: Backend, before: str | None, newest: str) -> None:
    if before is not None and before not in known:
        raise StoreUnavailable(
            f"{backend.name} has schema {before}, which mcpguard {__version__} (schema {newest}) does not know: "
            "a newer version upgraded it. Start that version, or restore its backup from backups/"
        )
