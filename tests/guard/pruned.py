"""What a guard has pruned: what is gone from its records, what it said of that, and who wanted it."""

import sqlite3
from contextlib import closing
from typing import Any

from mcpguard.domain.decisions import Actor, Decision
from tests.world import World

BY = Decision(Actor.with_full_rights("uid:1000 (operator)", "operator socket"), "a year is over")


def rows(guard: World) -> dict[int, bool]:
    """Every record in the store by its number, and whether it says anything."""
    with closing(sqlite3.connect(guard.database)) as connection:
        return dict(connection.execute("SELECT seq, content IS NOT NULL FROM records ORDER BY seq").fetchall())


def gone(guard: World) -> list[int]:
    return [seq for seq, full in rows(guard).items() if not full]


def prunings(guard: World) -> list[dict[str, Any]]:
    return [record for record in guard.said() if record["kind"] == "pruned"]
