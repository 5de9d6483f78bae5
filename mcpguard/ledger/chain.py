"""The chain as the writer's thread sees it: where it ends, and what is being added.

Rules kept here:
1. A number is given and a hash is made inside the transaction that stores the record, so the sequence has no gaps.
2. What a failed transaction would have added never happened: the end of the chain is read again. So is which key signs,
   where a key was to follow: a failure may be told of a transaction that was stored.
3. An end that lies before what was acknowledged means that acknowledged records are gone; the next record says so.
4. Where another guard has started since this one did, it has decided what this one does not know: nothing is added any
   more, so that every call is refused until this guard is started again.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass

import structlog

from mcpguard.codec.canonical import Scalar, encode
from mcpguard.domain.calls.bodies import Body, KeptBody
from mcpguard.domain.calls.records import RecordKind
from mcpguard.domain.clock import Clock, Ids
from mcpguard.domain.errors import StoreUnavailable
from mcpguard.ledger.checkpoints import Checkpoint, Signed, Why, sign
from mcpguard.ledger.format import GENESIS, SALT_BYTES, VERSION, Fields, body_fields, link
from mcpguard.ledger.keys import SigningKey
from mcpguard.ledger.rotations import Rotation, signing
from mcpguard.store.engine.backend import Connection
from mcpguard.store.rows import chains, checkpoints, records
from mcpguard.store.rows.checkpoints import StoredCheckpoint

Signing = Callable[[], object]
"""Called on the writer's thread when a checkpoint is stored."""
log = structlog.get_logger("mcpguard.ledger")


@dataclass(frozen=True, slots=True)
class Head:
    """Where a chain ends."""

    seq: int
    hash: bytes


@dataclass(frozen=True, slots=True)
class ChainMark:
    """Where a transaction stands: the end of the chain, what was signed in it, and which key is to follow."""

    head: Head
    signing: Signed | None
    next: SigningKey | None


class Chain:
    """Adds records to the newest chain of the store, beginning one in an empty store."""

    def __init__(self, key: SigningKey, every: int, clock: Clock, new_id: Ids) -> None:
        self.id = ""
        self.acknowledged: Head | None = None
        self.signed: Signed | None = None
        self.on_signed: Signing = lambda: None
        self._key = key
        self._next: SigningKey | None = None
        self._doubtful: SigningKey | None = None
        self._every = every
        self._clock = clock
        self._new_id = new_id
        self._head: Head | None = None
        self._start: Head | None = None
        self._earlier_start = 0
        self._last_signed = 0
        self._signing: Signed | None = None
        self._due: Why | None = None
        self._rows: list[dict[str, object]] = []
        self._bodies: list[dict[str, object]] = []

    @property
    def key(self) -> SigningKey:
        """The key that signs."""
        return self._key

    @property
    def public_key(self) -> str:
        """The key that signs, as it stands in records."""
        return self._key.public

    def sign_with(self, key: SigningKey) -> None:
        """Before anything is signed."""
        self._key = key

    def append(self, kind: RecordKind, fields: Fields, body: Body | None = None) -> int:
        """Add a record to the running transaction; its number. `fields` have been through `canonical_json` already."""
        end = self._end()
        salt = os.urandom(SALT_BYTES)
        record: dict[str, Scalar] = {
            "v": VERSION,
            "chain": self.id,
            "seq": end.seq + 1,
            "at": self._clock.now(),
            "kind": kind.value,
            **fields,
            **body_fields(body, salt),
        }
        content = encode(record)
        self._head = Head(end.seq + 1, link(end.hash, content))
        self._rows.append(
            {"content": content, "hash": self._head.hash, **{name: record.get(name) for name in records.COLUMNS}}
        )
        if kind is RecordKind.STARTED:
            self._start = self._head
        if isinstance(body, KeptBody):
            self._bodies.append({"chain": self.id, "seq": self._head.seq, "salt": salt, "content": body.masked})
        return self._head.seq

    def checkpoint(self, why: Why) -> None:
        """Sign the chain as it will stand when the running transaction ends."""
        self._due = why

    def rotate(self, connection: Connection, new: SigningKey, said: Fields) -> int:
        """Hand over to another key, which signs whatever follows; the number of the record. The last that the old key
        signs is this record, so it is signed here and not at the end of the transaction."""
        end, old = self._end(), self._next or self._key
        rotation = Rotation(self.id, end.seq + 1, self._clock.now(), end.hash.hex(), old.public, new.public)
        self.append(RecordKind.ROTATED, {**said, **rotation.fields(old, new)})
        self._sign(connection, self._end(), Why.ROTATION)
        self._next = new
        return rotation.seq

    def flush(self, connection: Connection) -> None:
        """Write what was appended, so that the transaction can read it."""
        if self._rows:
            records.add(connection, self._rows)
            self._rows.clear()
        if self._bodies:
            records.add_bodies(connection, self._bodies)
            self._bodies.clear()

    # What the writer calls (store.writer.Participant).

    def begin(self, connection: Connection) -> None:
        if self._head is None:
            self._read(connection)

    def mark(self, connection: Connection) -> ChainMark:
        self.flush(connection)
        return ChainMark(self._end(), self._signing, self._next)

    def back_to(self, mark: object) -> None:
        assert isinstance(mark, ChainMark)  # noqa: S101 - the writer hands back what `mark` gave it
        self._head, self._signing, self._next = mark.head, mark.signing, mark.next
        self._rows.clear()
        self._bodies.clear()

    def prepare(self, connection: Connection) -> None:
        self.flush(connection)
        end = self._end()
        if self._due is None and end.seq - self._signed_to >= self._every:
            self._due = Why.COUNT
        if self._due is not None and end.seq > self._signed_to:
            self._sign(connection, end, self._due)

    def kept(self) -> None:
        self.acknowledged = self._head
        self._key, self._next = self._next or self._key, None
        if self._signing is not None:
            self.signed, self._last_signed = self._signing, self._signing.statement.seq
            said = self.signed.statement
            log.info("ledger.checkpoint", chain=self.id, seq=said.seq, hash=said.hash, why=str(said.why))
            self.on_signed()
        self._signing = self._due = None

    def undone(self) -> None:
        self._doubtful, self._next = self._next or self._doubtful, None
        self._head = self._signing = self._due = None
        self._rows.clear()
        self._bodies.clear()

    @property
    def _signed_to(self) -> int:
        return self._signing.statement.seq if self._signing else self._last_signed

    def _end(self) -> Head:
        assert self._head is not None  # noqa: S101 - `begin` has run: we are inside a transaction
        return self._head

    def _read(self, connection: Connection) -> None:
        chain = chains.newest(connection)
        if chain is None:
            chain = self._new_id()
            chains.begin(connection, chain, self._clock.now())
        self._refuse_another(connection, chain)
        self.id = chain
        last = records.last(connection, chain)
        self._head = Head(*last) if last else Head(0, GENESIS)
        newest = checkpoints.last(connection, chain)
        self._last_signed = newest.seq if newest else 0
        if self._doubtful is not None and signing(connection, chain) == self._doubtful.public:
            self._key = self._doubtful
        self._doubtful = None
        known = self.acknowledged
        if known is not None and known.seq and records.hash_of(connection, chain, known.seq) != known.hash:
            log.error("ledger.lost", acknowledged=known.seq, found=self._head.seq)
            self.append(
                RecordKind.LOST,
                {"acknowledged": known.seq, "acknowledged_hash": known.hash.hex(), "found": self._head.seq},
            )

    def _refuse_another(self, connection: Connection, chain: str) -> None:
        newest = records.last_of(connection, chain, RecordKind.STARTED)
        if self._start is None:
            self._earlier_start = newest
            return
        known = self._earlier_start if chain == self.id else 0
        if newest > known and records.hash_of(connection, chain, newest) != self._start.hash:
            raise StoreUnavailable(
                f"another guard has started on this database since this one did (record {newest}), and this one does "
                "not know what was decided there. Start this guard again"
            )

    def _sign(self, connection: Connection, end: Head, why: Why) -> None:
        key = self._next or self._key
        statement = Checkpoint(self.id, end.seq, end.hash.hex(), self._clock.now(), why, self._signed_to, key.public)
        signed = Signed(statement, sign(statement, key))
        checkpoints.add(connection, self.id, StoredCheckpoint(end.seq, statement.content(), signed.signature))
        self._signing = signed
