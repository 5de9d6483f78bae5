"""Upgrades a database to the schema of this version.

Rules kept here:
1. An upgrade runs under a lock in one transaction: a failed one leaves the database unchanged.
2. An unknown schema is refused, because a newer version of mcpguard created it.
3. A SQLite file is copied before its schema is upgraded.
"""

from dataclasses import dataclass
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from mcpguard import __version__, assets
from mcpguard.domain.errors import StoreUnavailable
from mcpguard.store.engine.backend import Backend, cause
from mcpguard.store.engine.durability import Durability


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
    directory, newest = _scripts(_configured(None))
    try:
        found = MigrationContext.configure(connection).get_current_revision()
    except CommandError as error:
        raise StoreUnavailable(f"the schema of the database cannot be determined: {error}") from error
    return SchemaState(found, newest, found is None or found in _known(directory))


def upgrade(backend: Backend, scripts: Path | None = None) -> Upgrade:
    """Upgrade the database to the newest schema of `scripts`. Raises StoreUnavailable."""
    config = _configured(scripts)
    directory, newest = _scripts(config)
    connection = backend.connect()
    try:
        backend.begin(connection, Durability.SYNCED)
        backend.upgrade_lock(connection)
        before = MigrationContext.configure(connection).get_current_revision()
        if before == newest:
            return Upgrade(before, newest)
        _refuse_unknown(directory, backend, before, newest)
        backup = backend.back_up(before) if before else None
        _run(config, connection)
        connection.commit()
        return Upgrade(before, newest, backup)
    except SQLAlchemyError as error:
        raise StoreUnavailable(
            f"{backend.name} could not be upgraded to schema {newest}: {cause(error)}. It is unchanged"
        ) from error
    finally:
        connection.close()


def _configured(scripts: Path | None) -> Config:
    config = Config()
    config.set_main_option("script_location", str(scripts or assets.migrations()).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config


def _scripts(config: Config) -> tuple[ScriptDirectory, str]:
    """Return the migrations, and the newest schema."""
    directory = ScriptDirectory.from_config(config)
    newest = directory.get_current_head()
    assert newest is not None  # noqa: S101 - we ship at least one
    return directory, newest


def _known(directory: ScriptDirectory) -> set[str]:
    return {script.revision for script in directory.walk_revisions()}


def _refuse_unknown(directory: ScriptDirectory, backend: Backend, before: str | None, newest: str) -> None:
    if before is not None and before not in _known(directory):
        raise StoreUnavailable(
            f"{backend.name} has schema {before}, which mcpguard {__version__} (schema {newest}) does not know: "
            "a newer version upgraded it. Start that version, or restore its backup from backups/"
        )


def _run(config: Config, connection: Connection) -> None:
    config.attributes["connection"] = connection  # migrations/env.py uses it, inside our transaction
    command.upgrade(config, "head")
