"""Maps scripts to rows."""

import orjson
from sqlalchemy import Connection, delete, insert, select

from mcpguard.domain.scripts import Script, StoredScript
from mcpguard.store.rows.tables import scripts


def list_scripts(connection: Connection) -> list[StoredScript]:
    """Return all scripts, by name."""
    rows = connection.execute(select(scripts).order_by(scripts.c.name)).mappings()
    return [
        StoredScript(Script.from_definition(orjson.loads(row["definition"])), row["revision"], row["at"], row["by"])
        for row in rows
    ]


def revision(connection: Connection, name: str) -> int:
    """Return the revision of a script; 0 if there is none."""
    return connection.scalar(select(scripts.c.revision).where(scripts.c.name == name)) or 0


def put(connection: Connection, stored: StoredScript) -> None:
    """Store a script in place of the one that had its name."""
    forget(connection, stored.script.name)
    row = {
        "name": stored.script.name,
        "definition": orjson.dumps(stored.script.as_definition()),
        "revision": stored.revision,
        "at": stored.at,
        "by": stored.by,
    }
    connection.execute(insert(scripts), row)


def forget(connection: Connection, name: str) -> None:
    """Remove a script."""
    connection.execute(delete(scripts).where(scripts.c.name == name))
