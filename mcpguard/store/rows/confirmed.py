"""Confirmed values of settings ⇄ rows."""

from collections.abc import Mapping

import orjson
from sqlalchemy import Connection, delete, insert, select

from mcpguard.domain.json import SettingValue
from mcpguard.store.rows.tables import confirmed


def every(connection: Connection) -> dict[str, SettingValue]:
    """For each setting that was ever confirmed, the value that was confirmed last."""
    return {row.key: orjson.loads(row.value) for row in connection.execute(select(confirmed.c.key, confirmed.c.value))}


def put(connection: Connection, values: Mapping[str, SettingValue], at: int, by: str) -> None:
    """From now on these are the confirmed values of these settings."""
    rows = [{"key": key, "value": orjson.dumps(value).decode(), "at": at, "by": by} for key, value in values.items()]
    if rows:
        connection.execute(delete(confirmed).where(confirmed.c.key.in_(list(values))))
        connection.execute(insert(confirmed), rows)
