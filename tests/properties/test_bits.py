"""Every bit counts: whichever one of a record, a body or a checkpoint is turned over, both verifiers say so."""

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mcpguard.domain.errors import StoreUnavailable
from mcpguard.ledger.verify.report import LOG_ONLY
from mcpguard.ledger.verify.verify import verify
from mcpguard.store.engine.backend import Connection
from mcpguard.store.engine.offline import open_offline
from tests import second_verifier
from tests.ledger import sample
from tests.tiers import examples
from tests.world import verified

TABLES = ("records", "bodies", "checkpoints")
Cell = tuple[str, int, str]  # table, rowid, column


@pytest.fixture(scope="module", params=[False, True], ids=["plain", "pruned"])
def ledger(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ledger")
    return Path(shutil.copy(sample.make(folder, pruned=request.param), folder / "copy.db"))


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ledger")
    return Path(shutil.copy(sample.make(folder), folder / "copy.db"))


def cells(connection: sqlite3.Connection) -> Iterator[tuple[Cell, object]]:
    for table in TABLES:
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        for rowid, *values in connection.execute(f"SELECT rowid, {', '.join(columns)} FROM {table}").fetchall():
            yield from (
                ((table, rowid, column), value)
                for column, value in zip(columns, values, strict=True)
                if value is not None
            )


def turned(value: object, bit: int) -> tuple[str, object]:
    """How to write the value with one bit turned over: an SQL expression and its parameter."""
    if isinstance(value, int):
        number = value ^ (1 << (bit % 64))
        return "?", number - 2**64 if number >= 2**63 else number
    raw = bytearray(value.encode() if isinstance(value, str) else bytes(value))  # type: ignore[call-overload]
    raw[bit // 8 % len(raw)] ^= 1 << (bit % 8)
    return ("CAST(? AS TEXT)" if isinstance(value, str) else "?"), bytes(raw)


def not_whole(connect: Callable[[], Connection], ledger: Path) -> bool:
    try:
        return not verify(connect, str(ledger), (), LOG_ONLY, lambda _: None).whole
    except StoreUnavailable:
        return True


def turn(connection: sqlite3.Connection, cell: Cell, value: object, bit: int, check: Callable[[], None]) -> None:
    """Turn the bit over, check, and turn it back."""
    table, rowid, column = cell
    expression, changed = turned(value, bit)
    statement = f"UPDATE {table} SET {column} = {{}} WHERE rowid = ?"
    try:
        connection.execute(statement.format(expression), (changed, rowid))
    except sqlite3.IntegrityError:
        return  # the database itself refuses it
    try:
        check()
    finally:
        # A table that is kept by its number has moved the row.
        moved = column == "seq" and table != "checkpoints"
        connection.execute(statement.format("?"), (value, changed if moved else rowid))


@settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_turned_bit_is_found_by_both(data: st.DataObject, ledger: Path) -> None:
    def check() -> None:
        with open_offline(ledger) as connect:
            assert not_whole(connect, ledger), cell
        assert second_verifier.verify(ledger), cell

    with closing(sqlite3.connect(ledger, isolation_level=None)) as connection:
        cell, value = data.draw(st.sampled_from([cell for cell in cells(connection) if cell[1] != b""]))
        turn(connection, cell, value, data.draw(st.integers(0, 8 * 1024)), check)


@pytest.mark.parametrize("place", [("records", 3), ("bodies", 3), ("checkpoints", 2)], ids=lambda place: place[0])
def test_a_bit_of_every_byte_of_one_of_each_is_found(place: tuple[str, int], plain: Path) -> None:
    with closing(sqlite3.connect(plain, isolation_level=None)) as connection, open_offline(plain) as connect:
        turned_over = 0
        for cell, value in list(cells(connection)):
            if cell[:2] != place:
                continue

            def check(cell: Cell = cell) -> None:
                assert not_whole(connect, plain), cell

            for byte in range(size(value) // 8):
                turn(connection, cell, value, byte * 8 + byte % 8, check)
                turned_over += 1
    assert turned_over > 40


def size(value: object) -> int:
    return 64 if isinstance(value, int) else 8 * len(turned(value, 0)[1])  # type: ignore[arg-type]


def test_untouched_it_is_whole(ledger: Path) -> None:
    assert verified(ledger).whole
    assert second_verifier.verify(ledger) == []
