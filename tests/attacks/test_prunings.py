"""Somebody who can write the database removes what they do not like, and has it look as if it had been pruned."""

import hashlib
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import anyio
import orjson
import pytest

from mcpguard.domain.calls.bodies import KeptBody
from mcpguard.domain.calls.outcomes import Outcome
from mcpguard.guard.audit.retention import PruningRequest
from mcpguard.ledger.checkpoints import CheckpointCause
from tests import second_verifier
from tests.guard.pruned import BY
from tests.ledger.tampering import EMPTY, tampering
from tests.world import verified, world

Attack = Callable[[sqlite3.Connection], object]


async def make(folder: Path) -> Path:
    """A log of which records 2 to 9 were pruned, and that went on."""
    async with world(folder, audit__checkpoint_records=5) as guard:
        for _ in range(10):
            await guard.call(guard.opening(arguments=KeptBody(b"{}")), Outcome.answer(KeptBody(b"a")))
        await guard.now.guard.retention.prune_on_request(PruningRequest(keep=len(guard.said()) - 9), BY, dry=False)
        for _ in range(3):
            await guard.call()
        await guard.now.ledger.checkpoint(CheckpointCause.EXPORT)
        await guard.call(guard.opening(arguments=KeptBody(b"{}")))
        file = guard.database.with_name("killed.db")
        with closing(sqlite3.connect(guard.database)) as live, closing(sqlite3.connect(file)) as copied:
            live.backup(copied)  # as a guard leaves it that is killed: nothing is signed at the end
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")
    return file


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return anyio.run(make, tmp_path_factory.mktemp("pruned"))


@pytest.fixture
def copy(log: Path, tmp_path: Path) -> Path:
    file = tmp_path / "copy.db"
    file.write_bytes(log.read_bytes())
    return file


def empty(first: int, last: int) -> Attack:
    def attack(connection: sqlite3.Connection) -> None:
        connection.execute(EMPTY, (first, last))
        connection.execute("DELETE FROM bodies WHERE seq BETWEEN ? AND ?", (first, last))

    return attack


def said(connection: sqlite3.Connection) -> tuple[int, dict[str, object]]:
    """The record that says what was pruned."""
    rows = connection.execute("SELECT seq, content FROM records WHERE kind = 'pruned'").fetchall()
    seq, content = rows[0]
    return seq, orjson.loads(content)


def restated(rest: bool = False, **fields: object) -> Attack:
    """The record says something else; `rest`: and all hashes are made anew after it."""

    def attack(connection: sqlite3.Connection) -> None:
        seq, before = said(connection)
        content = orjson.dumps({**before, **fields}, option=orjson.OPT_SORT_KEYS)
        connection.execute("UPDATE records SET content = ? WHERE seq = ?", (content, seq))
        if rest:
            rechain_from(connection, seq)

    return attack


def rechain_from(connection: sqlite3.Connection, seq: int) -> None:
    previous = connection.execute("SELECT hash FROM records WHERE seq = ?", (seq - 1,)).fetchone()[0]
    for number, content in connection.execute("SELECT seq, content FROM records WHERE seq >= ?", (seq,)).fetchall():
        previous = hashlib.sha256(b"mcpguard/record/1\0" + previous + content).digest()
        connection.execute("UPDATE records SET hash = ? WHERE seq = ?", (previous, number))


def more_than_it_says(connection: sqlite3.Connection) -> None:
    """What lies behind the pruned stretch goes, and the record says that it was a part of it, with the right digest."""
    empty(10, 12)(connection)
    hashes = [row[0] for row in connection.execute("SELECT hash FROM records WHERE seq BETWEEN 2 AND 12 ORDER BY seq")]
    digest = hashlib.sha256(b"".join(hashes)).hexdigest()
    restated(rest=True, last=12, count=11, hashes=digest)(connection)


def exchanged(connection: sqlite3.Connection) -> None:
    connection.execute("UPDATE records SET hash = ? WHERE seq = 5", (b"\1" * 32,))


def the_record_too(connection: sqlite3.Connection) -> None:
    seq, _ = said(connection)
    empty(seq, seq)(connection)


def newest_as_if_pruned(what: str) -> Attack:
    """With a record that accounts for it, as the guard would have made it, and all hashes right. No key is needed."""

    def attack(connection: sqlite3.Connection) -> None:
        last, (chain,) = said_last(connection), connection.execute("SELECT id FROM chains").fetchone()
        signed = connection.execute("SELECT max(seq) FROM checkpoints").fetchone()[0]
        span = signed + 1, last
        fields = {"what": what, "first": span[0], "last": last, "count": 1, "why": "age"}
        if what == "records":
            empty(*span)(connection)
            hashes = connection.execute("SELECT hash FROM records WHERE seq BETWEEN ? AND ? ORDER BY seq", span)
            fields |= {"hashes": hashlib.sha256(b"".join(row[0] for row in hashes)).hexdigest(), "keys": ""}
        else:
            connection.execute("UPDATE bodies SET content = NULL, salt = NULL WHERE seq BETWEEN ? AND ?", span)
        content = orjson.dumps(
            {**fields, "v": 1, "chain": chain, "seq": last + 1, "at": 1, "kind": "pruned"}, option=orjson.OPT_SORT_KEYS
        )
        connection.execute(
            "INSERT INTO records (chain, seq, hash, content, at, kind) VALUES (?, ?, ?, ?, 1, 'pruned')",
            (chain, last + 1, b"", content),
        )
        rechain_from(connection, last + 1)

    return attack


def said_last(connection: sqlite3.Connection) -> int:
    last: int = connection.execute("SELECT max(seq) FROM records").fetchone()[0]
    return last


ATTACKS: dict[str, Attack] = {
    "records that no record accounts for": empty(11, 12),
    "a body that no record accounts for": lambda connection: connection.execute(
        "UPDATE bodies SET content = NULL, salt = NULL WHERE seq = (SELECT max(seq) FROM bodies)"
    ),
    "the row of what was pruned": lambda connection: connection.execute("DELETE FROM records WHERE seq = 4"),
    "another hash in what was pruned": exchanged,
    "the record says more": restated(last=12),
    "the record says more, and all hashes are made anew": more_than_it_says,
    "the record says less": restated(last=8),
    "the record says another digest": restated(hashes="0" * 64),
    "the record is no more": the_record_too,
    "the newest records, which no checkpoint covers": newest_as_if_pruned("records"),
    "the newest body, which no checkpoint covers": newest_as_if_pruned("bodies"),
    "columns of what was pruned": lambda connection: connection.execute(
        "UPDATE records SET server = 'files' WHERE seq = 4"
    ),
}


def test_untouched_it_is_whole(copy: Path) -> None:
    report = verified(copy)
    assert report.whole
    assert second_verifier.verify(copy) == []
    (chain,) = report.chains
    assert chain.pruned == 8


@pytest.mark.parametrize("attack", ATTACKS)
def test_both_verifiers_find_it(copy: Path, attack: str) -> None:
    with tampering(copy) as connection:
        ATTACKS[attack](connection)
    assert not verified(copy).whole
    assert second_verifier.verify(copy)


def test_whoever_makes_every_hash_anew_has_no_key_for_the_checkpoints(log: Path, tmp_path: Path) -> None:
    """Nothing pruned, and then all of it rewritten."""
    file = tmp_path / "copy.db"
    file.write_bytes(log.read_bytes())
    with tampering(file) as connection:
        connection.execute(
            "UPDATE records SET content = CAST(replace(content, 'an agent', 'nobody') AS BLOB) WHERE seq > 12"
        )
        seq, _ = said(connection)
        rechain_from(connection, min(seq, 13))
    assert not verified(file).whole
    assert second_verifier.verify(file)
