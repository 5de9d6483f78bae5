"""Confirmed values of settings ⇄ rows."""

from collections.abc import Mapping

import orjson
from sqlalchemy import Connection, delete, insert, select

from mcpguard.store.rows.tables import confirmed

Json = str | int | float | bool | list[str] | None


def every(connection: Connection) -> dict[str, Json]:
    """For each setting that was ever confirmed, the value that was confirmed last."""
    return {row.key: orjson.loads(row.value) for row in connection.execute(select(confirmed.c.key, confirmed.c.value))}


def put(connection: Connection, values: Mapping[str, Json], at: int, by: str) -> None:
    """From now on these are the confirmed values of these settings."""
    rows = [{"key": key, "value": orjson.dumps(value).decode(), "at": at, "by": by} for key, value in values.items()]
    if rows:
        connection.execute(delete(confirmed).where(confirmed.c.key.in_(list(values))))
        connection.execute(insert(confirmed), rows)
