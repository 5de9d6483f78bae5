"""Emptying records and bodies: what stays, and that the room is given back."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from sqlalchemy import Connection, make_url, select

from mcpguard.store.engine.postgres import Postgres
from mcpguard.store.engine.schema import upgrade
from mcpguard.store.engine.sqlite import SQLite
from mcpguard.store.rows import pruning, records
from mcpguard.store.rows.records import COLUMNS, StoredBody
from mcpguard.store.rows.tables import bodies
from mcpguard.store.rows.tables import records as table
from tests.postgres import fresh_database
from tests.store.searched import add_bodies, add_records

CHAIN = "00000000-0000-7000-8000-000000000000"
CONTENT = b"x" * 600
BODY = b"b" * 300
Empty = Callable[[Connection, str, int, int], None]


def fill(connection: Connection, count: int, kinds: Sequence[str] = ("asked",)) -> None:
    """Records from 1 on, with kinds in turn, and a body beside every one of them."""
    rows = [
        dict.fromkeys(COLUMNS)
        | {"chain": CHAIN, "seq": seq, "at": seq, "kind": kinds[seq % len(kinds)], "server": f"server-{seq}"}
        | {"hash": seq.to_bytes(32), "content": CONTENT}
        for seq in range(1, count + 1)
    ]
    add_records(connection, rows)
    add_bodies(connection, [{"chain": CHAIN, "seq": row["seq"], "salt": b"s" * 16, "content": BODY} for row in rows])


def left(connection: Connection) -> dict[int, tuple[bool, bytes]]:
    """Of every record whether it says anything, and its hash."""
    rows = connection.execute(select(table.c.seq, table.c.content, table.c.hash))
    return {row.seq: (row.content is not None, row.hash) for row in rows}


def test_number_and_hash_stay_and_all_else_goes(connection: Connection) -> None:
    fill(connection, 9, ("asked", "pruned", "rotated"))
    pruning.empty(connection, CHAIN, 2, 8)
    assert left(connection) == {seq: (seq not in (3, 6), seq.to_bytes(32)) for seq in range(1, 10)}
    emptied = [row for row in records.records_after(connection, CHAIN, 0, 9) if row.content is None]
    assert [row.columns for row in emptied] == [(CHAIN, seq, *[None] * (len(COLUMNS) - 2)) for seq in (3, 6)]
    assert [*connection.scalars(select(bodies.c.seq).order_by(bodies.c.seq))] == [1, 9]


def test_doing_it_again_changes_nothing(connection: Connection) -> None:
    fill(connection, 5)
    pruning.empty(connection, CHAIN, 1, 3)
    before = left(connection)
    pruning.empty(connection, CHAIN, 1, 3)
    assert left(connection) == before
    assert pruning.first_full(connection, CHAIN, 1, 5) == 4


def test_another_chain_is_left_alone(connection: Connection) -> None:
    fill(connection, 5)
    pruning.empty(connection, "another", 1, 5)
    pruning.empty_bodies(connection, "another", 1, 5)
    assert all(full for full, _ in left(connection).values())
    assert pruning.first_full_body(connection, CHAIN, 1, 5) == 1


def test_of_a_body_the_row_stays(connection: Connection) -> None:
    fill(connection, 4)
    pruning.empty_bodies(connection, CHAIN, 2, 3)
    assert pruning.full_bodies(connection, CHAIN, 1, 4, 10) == [1, 4]
    assert all(full for full, _ in left(connection).values())
    assert records.bodies_of(connection, CHAIN, [2, 3]) == [StoredBody(2, None, None), StoredBody(3, None, None)]


@pytest.mark.parametrize("what", [pruning.empty, pruning.empty_bodies])
def test_a_file_gives_back_the_room(tmp_path: Path, what: Empty) -> None:
    """Rows that only grew shorter would leave every page in use."""
    backend = SQLite(tmp_path / "test.db", busy_timeout=1)
    upgrade(backend)
    with backend.connect() as connection:
        fill(connection, 2000)
        before = pruning.file_bytes(connection)
        for first in range(1, 2000, 50):
            what(connection, CHAIN, first, first + 49)
        after = pruning.file_bytes(connection)
        assert before is not None
        assert after is not None
        given_back = 2000 * (len(BODY) + (len(CONTENT) if what is pruning.empty else 0))
        assert before - after > given_back * 3 // 4
        assert len(left(connection)) == 2000
    backend.dispose()


def test_on_a_server_it_counts_what_is_in_the_tables(postgres_server: str) -> None:
    backend = Postgres(make_url(fresh_database(postgres_server)), busy_timeout=1)
    upgrade(backend)
    with backend.connect() as connection:
        fill(connection, 20)
        assert pruning.file_bytes(connection) is None
        both = len(CONTENT) + len(BODY)
        assert pruning.content_bytes(connection, CHAIN, 1, 20) == 20 * both
        pruning.empty(connection, CHAIN, 1, 5)
        pruning.empty_bodies(connection, CHAIN, 6, 10)
        assert pruning.content_bytes(connection, CHAIN, 1, 20) == 10 * both + 5 * len(CONTENT)
    backend.dispose()


def test_openings_are_found_by_an_id_anywhere_in_them(connection: Connection) -> None:
    entries = {2: b'{"ticket":"one"}', 3: b'{"continues":"one"}', 4: b'{"continues":"two"}', 5: b"one"}
    rows = [
        dict.fromkeys(COLUMNS)
        | {"chain": CHAIN, "seq": seq, "at": seq * 10, "entry": f"entry-{seq}", "hash": b"h", "content": content}
        | {"kind": "closed" if seq == 5 else "opened"}
        for seq, content in entries.items()
    ]
    add_records(connection, rows)
    assert pruning.naming(connection, CHAIN, ["one"], 1, 9) == [("entry-2", entries[2]), ("entry-3", entries[3])]
    assert pruning.naming(connection, CHAIN, ["one"], 3, 9) == [("entry-3", entries[3])]
    assert pruning.naming(connection, CHAIN, ["none"], 1, 9) == []
    assert len(pruning.naming(connection, CHAIN, ["none", "one", "two"], 1, 9)) == 3
    assert [pruning.newest_until(connection, CHAIN, seq) for seq in (1, 4, 9)] == [None, 40, 50]
