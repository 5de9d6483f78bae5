"""Bringing a database to the schema that this version needs.

Rules kept here:
1. Under a lock, in one transaction: a failed upgrade leaves what was there.
2. A schema that this version does not know is refused: a newer version made it.
3. SQLite is copied before its schema is changed.
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
    """What became of a database: its schema before (None: it was new) and after, and the copy that was made."""

    before: str | None
    after: str
    backup: Path | None = None


@dataclass(frozen=True, slots=True)
class SchemaState:
    """The schema that a database has, the newest that this version knows, and whether it knows that of the database."""

    found: str | None
    newest: str
    known: bool


def schema_of(connection: Connection) -> SchemaState:
    """Only reads. Raises StoreUnavailable where that cannot be told."""
    directory, newest = _scripts(_configured(None))
    try:
        found = MigrationContext.configure(connection).get_current_revision()
    except CommandError as error:
        raise StoreUnavailable(f"which schema the database has cannot be told: {error}") from error
    return SchemaState(found, newest, found is None or found in _known(directory))


def upgrade(backend: Backend, scripts: Path | None = None) -> Upgrade:
    """Bring the database to the newest schema that `scripts` know."""
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
            f"{backend.name} could not be brought to schema {newest}: {cause(error)}. It is as it was"
        ) from error
    finally:
        connection.close()


def _configured(scripts: Path | None) -> Config:
    config = Config()
    config.set_main_option("script_location", str(scripts or assets.migrations()).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config


def _scripts(config: Config) -> tuple[ScriptDirectory, str]:
    """What there is to bring a database up, and the schema that it has then."""
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
            "a newer version upgraded it. Start that version, or restore the copy it made in backups/"
        )


def _run(config: Config, connection: Connection) -> None:
    config.attributes["connection"] = connection  # migrations/env.py works on it, inside our transaction
    command.upgrade(config, "head")
