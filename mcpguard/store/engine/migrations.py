"""Runs migrations with Alembic, which is loaded only where a schema differs from the newest: it takes long to load."""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Connection

from mcpguard import assets
from mcpguard.domain.errors import StoreUnavailable


@dataclass(frozen=True, slots=True)
class Migrations:
    """The migrations in a folder."""

    config: Config
    newest: str
    known: AbstractSet[str]

    def run(self, connection: Connection) -> None:
        """Upgrade to the newest schema in the transaction of the connection."""
        self.config.attributes["connection"] = connection  # migrations/env.py uses it
        command.upgrade(self.config, "head")


def read_migrations(scripts: Path | None = None) -> Migrations:
    """Return the migrations in a folder, by default those of this version."""
    config = Config()
    config.set_main_option("script_location", str(scripts or assets.migrations()).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    directory = ScriptDirectory.from_config(config)
    newest = directory.get_current_head()
    assert newest is not None  # noqa: S101 - we ship at least one
    return Migrations(config, newest, {script.revision for script in directory.walk_revisions()})


def current_schema(connection: Connection) -> str | None:
    """Return the schema of a database; None where it has none. Raises StoreUnavailable."""
    try:
        return MigrationContext.configure(connection).get_current_revision()
    except CommandError as error:
        raise StoreUnavailable(f"the schema of the database cannot be determined: {error}") from error
