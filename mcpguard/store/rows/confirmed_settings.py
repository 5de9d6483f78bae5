"""Maps confirmed values of settings to rows."""

from collections.abc import Mapping

import orjson
from sqlalchemy import Connection, delete, insert, select

from mcpguard.domain.json import SettingValue
from mcpguard.store.rows.tables import confirmed


def confirmed_values(connection: Connection) -> dict[str, SettingValue]:
    """Return the last confirmed value of every setting that was ever confirmed."""
    return {row.key: orjson.loads(row.value) for row in connection.execute(select(confirmed.c.key, confirmed.c.value))}


def put(connection: Connection, values: Mapping[str, SettingValue], at: int, by: str) -> None:
    """Store these values as the confirmed ones."""
    rows = [{"key": key, "value": orjson.dumps(value).decode(), "at": at, "by": by} for key, value in values.items()]
    if rows:
        connection.execute(delete(confirmed).where(confirmed.c.key.in_(list(values))))
        connection.execute(insert(confirmed), rows)
