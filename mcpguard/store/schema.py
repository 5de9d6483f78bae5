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
from sqlalchemy import Connection

from mcpguard import __version__, assets
from mcpguard.domain.errors import StoreUnavailable
from mcpguard.store.backend import Backend
from mcpguard.store.durability import Durability


@dataclass(frozen=True, slots=True)
class Upgrade:
    """What became of a database: its schema before (None: it was new) and after, and the copy that was made."""

    before: str | None
    after: str
    backup: Path | None = None


def upgrade(backend: Backend, scripts: Path | None = None) -> Upgrade:
    """Bring the database to the newest schema that `scripts` know."""
    config = Config()
    config.set_main_option("script_location", str(scripts or assets.migrations()).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    directory = ScriptDirectory.from_config(config)
    newest = directory.get_current_head()
    assert newest is not None  # noqa: S101 - we ship at least one
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
    finally:
        connection.close()


def _refuse_unknown(directory: ScriptDirectory, backend: Backend, before: str | None, newest: str) -> None:
    known = {script.revision for script in directory.walk_revisions()}
    if before is not None and before not in known:
        raise StoreUnavailable(
            f"{backend.name} has schema {before}, which mcpguard {__version__} (schema {newest}) does not know: "
            "a newer version upgraded it. Start that version, or restore the copy it made in backups/"
        )


def _run(config: Config, connection: Connection) -> None:
    config.attributes["connection"] = connection  # migrations/env.py works on it, inside our transaction
    command.upgrade(config, "head")
