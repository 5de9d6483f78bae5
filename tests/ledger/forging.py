"""Chains of every kind of record, and what somebody who has the database could do to them, both drawn by Hypothesis."""

import hashlib
import json
import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from sqlalchemy import text

from mcpguard.domain.calls.bodies import DigestedBody, KeptBody
from mcpguard.domain.calls.records import RecordKind
from mcpguard.ledger.format import GENESIS, link
from mcpguard.store.engine.backend import Connection
from tests.ledger import chained
from tests.ledger.chained import Chained
from tests.ledger.tampering import EMPTY, tampering

KEYED = "hmac-sha256:" + "a" * 64
KINDS = {"start": RecordKind.STARTED, "lost": RecordKind.LOST, "resumed": RecordKind.RESUMED}
Step = tuple[str, int]
Attack = tuple[str, int, int]
WORDS = ("call", "call", "call", "open", "close", "release", "other", "start", "sign", "rotate", "lost", "resumed")
HISTORIES = st.lists(
    st.tuples(
        st.sampled_from([*WORDS, "prune records", "prune bodies"]),
        st.integers(0, 9),
    ),
    min_size=4,
    max_size=25,
)


class History:
    """Writes a chain as a guard would have."""

    def __init__(self, file: Path) -> None:
        self.chained = Chained(file)
        self._open: list[str] = []
        self._made = 0
        self.chained.start()

    def live(self, steps: list[Step]) -> Path:
        for what, number in steps:
            self._step(what, number)
        return self.chained.close()

    def _step(self, what: str, number: int) -> None:
        chain = self.chained
        match what.split():
            case ["call"]:
                self._open_one(number)
                self._close(number)
            case ["open"]:
                self._open_one(number)
            case ["close" | "release" as how] if self._open:
                (self._close if how == "close" else self._release)(number)
            case ["sign"]:
                chain.transact(chain.signing())
            case ["rotate"]:
                chain.rotate()
            case ["prune", part]:
                chain.transact(chain.signing())
                chain.transact(lambda connection: self._prune(connection, part, number))
            case [word] if word in KINDS:
                self._append(KINDS[word], {"key": chain.chain.public_key, "refused": number, "found": 3})
            case _:
                chain.transact(chain.append(1 + number))

    def _open_one(self, number: int) -> None:
        self._made += 1
        self._open.append(f"entry-{self._made}")
        self._append(RecordKind.OPENED, {"entry": self._open[-1], "verdict": "allow"}, number)

    def _close(self, number: int) -> None:
        entry = self._open.pop(number % len(self._open))
        self._append(RecordKind.CLOSED, {"entry": entry, "outcome": "answered"}, number + 1)

    def _release(self, number: int) -> None:
        self._append(RecordKind.RELEASED, {"entry": self._open[number % len(self._open)], "verdict": "allow"})

    def _append(self, kind: RecordKind, fields: dict[str, Any], number: int = 0) -> None:
        bodies = (None, KeptBody(b"arguments"), DigestedBody(3, KEYED), KeptBody(b"", KEYED))
        self.chained.transact(lambda _: self.chained.chain.append(kind, fields, bodies[number % 4]))

    def _prune(self, connection: Connection, what: str, number: int) -> None:
        chain, (upto,) = self.chained.chain, connection.execute(text("SELECT max(seq) FROM records")).one()
        first = 1 + upto * number // 10
        last = min(upto, first + number)
        kept = "seq BETWEEN :first AND :last AND coalesce(kind, '') NOT IN ('pruned', 'rotated')"
        about = {"first": first, "last": last}
        said: dict[str, Any] = {"what": what, **about, "why": "age"}
        if what == "records":
            hashes = connection.execute(
                text("SELECT hash FROM records WHERE seq BETWEEN :first AND :last ORDER BY seq"), about
            )
            digest = hashlib.sha256(b"".join(row[0] for row in hashes)).hexdigest()
            said |= {"hashes": digest, "keys": self.chained.chain.public_key}
            gone = EMPTY.partition(" WHERE ")[0]
            connection.execute(text(f"{gone} WHERE {kept}"), about)
            connection.execute(text("DELETE FROM bodies WHERE seq BETWEEN :first AND :last"), about)
        else:
            connection.execute(
                text("UPDATE bodies SET salt = NULL, content = NULL WHERE seq BETWEEN :first AND :last"), about
            )
        chain.append(RecordKind.PRUNED, said)


_NEXT_BODY = "(SELECT min(seq) FROM bodies WHERE seq >= :one)"
_NEXT_CHECKPOINT = "(SELECT min(seq) FROM checkpoints WHERE seq >= :one)"
STATEMENTS = {
    "edit a column": "UPDATE records SET server = 'other' WHERE seq = :one",
    "write no UTF-8": "UPDATE records SET server = CAST(x'ff' AS TEXT) WHERE seq = :one",
    "edit a hash": "UPDATE records SET hash = zeroblob(32) WHERE seq = :one",
    "shorten a hash": "UPDATE records SET hash = x'00' WHERE seq = :one",
    "remove": "DELETE FROM records WHERE seq BETWEEN :one AND :one + :other % 4",
    "move": "UPDATE records SET seq = :other WHERE seq = :one",
    "move far away": "UPDATE records SET seq = 1 << 50 WHERE seq = (SELECT max(seq) FROM records)",
    "empty": EMPTY.replace("? AND ?", ":one AND :one + :other % 4"),
    "empty bodies": "UPDATE bodies SET salt = NULL, content = NULL WHERE seq >= :one",
    "edit a body": f"UPDATE bodies SET content = x'00' WHERE seq = {_NEXT_BODY}",
    "remove a body": f"DELETE FROM bodies WHERE seq = {_NEXT_BODY}",
    "move a body": f"UPDATE bodies SET seq = :other WHERE seq = {_NEXT_BODY}",
    "put a body": "INSERT INTO bodies SELECT chain, :one, salt, content FROM bodies LIMIT 1",
    "remove a checkpoint": f"DELETE FROM checkpoints WHERE seq = {_NEXT_CHECKPOINT}",
    "move a checkpoint": f"UPDATE checkpoints SET seq = :other WHERE seq = {_NEXT_CHECKPOINT}",
    "edit checkpoints": "UPDATE checkpoints SET signature = zeroblob(64) WHERE seq >= :one",
}


def _edit(connection: sqlite3.Connection, one: int, other: int) -> None:
    _change(connection, one, None, settings=f"other {other}")


def _edit_entry(connection: sqlite3.Connection, one: int, other: int) -> None:
    _change(connection, one, "entry", entry=f"entry-{other}")


def _edit_kind(connection: sqlite3.Connection, one: int, other: int) -> None:
    kinds = ("opened", "closed", "released", "started", "pruned", "rotated", "lost", "rolled_back", "resumed")
    _change(connection, one, "kind", kind=kinds[other % len(kinds)])


def _swap(connection: sqlite3.Connection, one: int, other: int) -> None:
    for before, after in ((one, 1000), (other, one), (1000, other)):
        connection.execute("UPDATE records SET seq = ? WHERE seq = ?", (after, before))


def _put_checkpoint(connection: sqlite3.Connection, _: int, _other: int) -> None:
    chained.put_checkpoint(connection, chained.new_key())


def _put_record(connection: sqlite3.Connection, one: int, other: int) -> None:
    said = {"entry": f"entry-{other}", "first": other, "last": other + 2, "what": "bodies", "key": "x"}
    chained.put(connection, ("opened", "closed", "released", "pruned", "rotated", "lost")[one % 6], **said)


def _cut(connection: sqlite3.Connection, one: int, _: int) -> None:
    chained.cut(connection, max(one, 1))


def _rechain(connection: sqlite3.Connection, _: int, _other: int) -> None:
    """Compute every hash anew, beyond what was emptied."""
    previous = GENESIS
    for seq, content, there in connection.execute("SELECT seq, content, hash FROM records ORDER BY seq").fetchall():
        previous = there if content is None else link(previous, content)
        connection.execute("UPDATE records SET hash = ? WHERE seq = ?", (previous, seq))


def _write_twice(connection: sqlite3.Connection, one: int, other: int) -> None:
    """Write a row twice, in a table that has lost its key."""
    table = "records" if other % 2 else "bodies"
    connection.execute(f"CREATE TABLE other AS SELECT * FROM {table}")
    connection.execute(f"INSERT INTO other SELECT * FROM {table} WHERE seq = ?", (one,))
    connection.execute(f"DROP TABLE {table}")
    connection.execute(f"ALTER TABLE other RENAME TO {table}")


FORGERIES = (
    _edit, _edit_entry, _edit_kind, _swap, _put_checkpoint, _put_record, _cut, _rechain, _write_twice,
)  # fmt: skip
_BY_NAME = {each.__name__: each for each in FORGERIES}
ATTACKS = st.lists(
    st.tuples(st.sampled_from([*STATEMENTS, *_BY_NAME]), st.integers(-2, 60), st.integers(-2, 60)), max_size=4
)


def attack(file: Path, attacks: list[Attack]) -> None:
    """Do these things to a database. What SQLite itself refuses is left out."""
    for what, one, other in attacks:
        with suppress(sqlite3.IntegrityError, sqlite3.OperationalError), tampering(file) as connection:
            if what in STATEMENTS:
                connection.execute(STATEMENTS[what], {"one": one, "other": other})
            else:
                _BY_NAME[what](connection, one, other)


def _change(connection: sqlite3.Connection, seq: int, column: str | None, **changes: str) -> None:
    found = connection.execute("SELECT content FROM records WHERE seq = ?", (seq,)).fetchone()
    if found and found[0]:
        content = json.dumps(json.loads(found[0]) | changes, sort_keys=True, separators=(",", ":")).encode()
        connection.execute("UPDATE records SET content = ? WHERE seq = ?", (content, seq))
        if column:
            connection.execute(f"UPDATE records SET {column} = ? WHERE seq = ?", (changes[column], seq))
