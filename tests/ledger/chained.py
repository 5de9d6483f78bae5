"""A chain that is written without a guard, transaction by transaction, and what a forger can write behind its back."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from mcpguard.domain.calls.records import RecordKind
from mcpguard.ledger.chain import Chain
from mcpguard.ledger.checkpoints import Checkpoint, CheckpointCause, SignedCheckpoint, sign
from mcpguard.ledger.format import VERSION, link
from mcpguard.ledger.keys import SigningKey
from mcpguard.ledger.rotations import Rotation
from mcpguard.ledger.verify.report import LOG_ONLY, ChainReport, KeySource, KeyTrust, Tampering
from mcpguard.store.engine.backend import Connection
from mcpguard.store.engine.durability import Durability
from mcpguard.store.engine.sqlite import SQLite
from mcpguard.store.rows.records import COLUMNS
from tests import second_verifier
from tests.clock import FakeClock
from tests.ledger.tampering import tampering
from tests.world import new_id, new_store, verified

Work = Callable[[Connection], object]


def new_key() -> SigningKey:
    return SigningKey(Ed25519PrivateKey.generate())


class Chained:
    """A chain in a file of its own. `keys`: those that have signed it, the last of them does."""

    def __init__(self, file: Path, every: int = 1000) -> None:
        file.write_bytes(new_store())
        self.file = file
        self.keys = [new_key()]
        self.chain = Chain(self.keys[0], every, FakeClock(), new_id)
        self._backend = SQLite(file, busy_timeout=1)
        self._connection = self._backend.connect()

    def transact(self, *work: Work, fails: bool = False) -> None:
        """One transaction, as the writer makes them. `fails`: it ends before it is committed."""
        self._backend.begin(self._connection, Durability.COMMITTED)
        self.chain.begin(self._connection)
        for each in work:
            each(self._connection)
        self.chain.prepare(self._connection)
        if fails:
            self._backend.roll_back(self._connection)
            self.chain.discard()
        else:
            self._backend.commit(self._connection)
            self.chain.confirm()

    def doubted(self, *work: Work) -> None:
        """One that is stored, and of which the writer hears that it failed."""
        self._backend.begin(self._connection, Durability.COMMITTED)
        self.chain.begin(self._connection)
        for each in work:
            each(self._connection)
        self.chain.prepare(self._connection)
        self._backend.commit(self._connection)
        self.chain.discard()

    def start(self) -> None:
        self.transact(lambda _: self.chain.append(RecordKind.STARTED, {"key": self.chain.public_key}), self.signing())

    def append(self, count: int = 1) -> Work:
        return lambda _: [self.chain.append(RecordKind.DISCLOSED, {"digest": str(each)}) for each in range(count)]

    def signing(self, why: CheckpointCause = CheckpointCause.TIME) -> Work:
        return lambda _: self.chain.checkpoint(why)

    def rotation(self, key: SigningKey) -> Work:
        return lambda connection: self.chain.rotate(connection, key, {"why": "it is time"})

    def rotate(self, *more: Work) -> int:
        """The number of the record."""
        self.keys.append(new_key())
        self.transact(self.rotation(self.keys[-1]), *more)
        assert self.chain.signed is not None
        return self.chain.signed.statement.seq if not more else 0

    def lived(self) -> int:
        """Start, some records, a rotation, some more records, each signed; the number of the rotation."""
        self.start()
        self.transact(self.append(3), self.signing())
        rotated = self.rotate()
        self.transact(self.append(3), self.signing())
        return rotated

    def close(self) -> Path:
        """One file, for tests that change or copy it."""
        self._connection.close()
        self._backend.dispose()
        with closing(sqlite3.connect(self.file)) as connection:
            connection.execute("PRAGMA journal_mode=DELETE")
        return self.file


# What somebody can write who has the database and some keys.


def last(connection: sqlite3.Connection) -> tuple[str, int, bytes]:
    chain, seq, hash_ = connection.execute("SELECT chain, seq, hash FROM records ORDER BY seq DESC").fetchone()
    return chain, seq, hash_


def put(connection: sqlite3.Connection, kind: str, **fields: Any) -> int:  # noqa: ANN401 - fields of a record
    """A record after the last one, as the guard would have written it."""
    chain, seq, before = last(connection)
    record = {"v": VERSION, "chain": chain, "seq": seq + 1, "at": 7, "kind": kind, **fields}
    content = json.dumps(record, sort_keys=True, separators=(",", ":")).encode()
    columns = {name: record.get(name) for name in COLUMNS}
    values = {**columns, "content": content, "hash": link(before, content)}
    names = ", ".join(values)
    marks = ", ".join("?" for _ in values)
    connection.execute(f"INSERT INTO records ({names}) VALUES ({marks})", [*values.values()])
    return seq + 1


def put_rotation(connection: sqlite3.Connection, old: SigningKey, new: SigningKey, **other: Any) -> int:  # noqa: ANN401
    """A record by which one key follows another. `other`: what the record says otherwise than the statement."""
    chain, seq, before = last(connection)
    rotation = Rotation(chain, seq + 1, 7, before.hex(), old.public, new.public)
    return put(connection, "rotated", **{**rotation.fields(old, new), **other})


def put_checkpoint(
    connection: sqlite3.Connection, key: SigningKey, why: CheckpointCause = CheckpointCause.TIME
) -> SignedCheckpoint:
    """A checkpoint after the last record."""
    chain, seq, hash_ = last(connection)
    (previous,) = connection.execute("SELECT coalesce(max(seq), 0) FROM checkpoints").fetchone()
    statement = Checkpoint(chain, seq, hash_.hex(), 7, why, previous, key.public)
    signature = sign(statement, key)
    connection.execute(
        "INSERT INTO checkpoints (chain, seq, content, signature) VALUES (?, ?, ?, ?)",
        (chain, seq, statement.content(), signature),
    )
    return SignedCheckpoint(statement, signature)


def cut(connection: sqlite3.Connection, after: int) -> None:
    """Everything after a record is gone, and no checkpoint speaks of it."""
    for table in ("records", "bodies", "checkpoints"):
        connection.execute(f"DELETE FROM {table} WHERE seq > ?", (after,))


def newest(file: Path) -> SignedCheckpoint:
    """The newest checkpoint, as somebody kept it."""
    with tampering(file) as connection:
        content, signature = connection.execute(
            "SELECT content, signature FROM checkpoints ORDER BY seq DESC"
        ).fetchone()
    return SignedCheckpoint(Checkpoint.verify(content, signature), signature)


def judged(file: Path, *given: SigningKey, anchors: tuple[SignedCheckpoint, ...] = ()) -> tuple[ChainReport, set[str]]:
    """What both verifiers say, who must agree on whether it is whole."""
    keys = {key.public for key in given}
    trust = KeyTrust(frozenset(keys), KeySource.GIVEN) if given else LOG_ONLY
    report = verified(file, *(each.statement for each in anchors), trust=trust)
    kept = b"".join(json.dumps(each.as_json()).encode() + b"\n" for each in anchors) or None
    found = {finding.kind for finding in second_verifier.verify(file, kept, keys)}
    assert report.whole == (not found), (report.chains[0].problems, found)
    return report.chains[0], {str(kind) for kind in found}


def forged(file: Path, *given: SigningKey, anchors: tuple[SignedCheckpoint, ...] = ()) -> ChainReport:
    """The same, where both have to say that a key or a checkpoint is forged."""
    report, found = judged(file, *given, anchors=anchors)
    kinds = {Tampering.KEY_FORGED, Tampering.CHECKPOINT_FORGED}
    assert kinds & {problem.tampering for problem in report.problems}, report.problems
    assert kinds & found
    return report
