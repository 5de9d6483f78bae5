"""The values that were confirmed last come back as they were put there."""

import pytest
from sqlalchemy import select

from mcpguard.domain.json import SettingValue
from mcpguard.store.engine.store import Store
from mcpguard.store.rows import confirmed_settings
from mcpguard.store.rows.tables import confirmed as table

pytestmark = pytest.mark.anyio
VALUES: dict[str, SettingValue] = {
    "a": "text \U0001f512 \x00",
    "b": ["one", "two"],
    "c": [],
    "d": True,
    "e": 0.5,
    "f": 2**53,
    "g": None,
}


async def test_what_was_put_there_comes_back(store: Store) -> None:
    assert await store.readers.run(confirmed_settings.confirmed_values) == {}
    await store.writer.submit(lambda connection: confirmed_settings.put(connection, VALUES, 1, "one"))
    assert await store.readers.run(confirmed_settings.confirmed_values) == VALUES


async def test_the_last_one_counts_and_the_others_stay(store: Store) -> None:
    await store.writer.submit(lambda connection: confirmed_settings.put(connection, VALUES, 1, "one"))
    await store.writer.submit(lambda connection: confirmed_settings.put(connection, {"a": "new", "b": []}, 2, "two"))
    await store.writer.submit(lambda connection: confirmed_settings.put(connection, {}, 3, "three"))
    assert await store.readers.run(confirmed_settings.confirmed_values) == VALUES | {"a": "new", "b": []}
    rows = await store.readers.run(lambda connection: connection.execute(select(table)).mappings().all())
    assert {row["key"]: (row["at"], row["by"]) for row in rows if row["key"] in "abc"} == {
        "a": (2, "two"),
        "b": (2, "two"),
        "c": (1, "one"),
    }
