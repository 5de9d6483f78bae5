"""The state of the chain on the writer's thread: its end, and the records that the running transaction appends.

Rules kept here:
1. Numbers are assigned and hashes computed inside the transaction that stores the record, so the sequence has no gaps.
2. Records of a failed transaction never existed: the end of the chain is read again. During a key rotation, the current
   signing key is read again too, because a transaction that is reported as failed may have been stored.
3. If the chain ends before an acknowledged record, acknowledged records were lost; the next record reports this.
4. If another guard has started on the database after this one, it has made decisions that this one does not know: this
   one then appends nothing more, and so refuses every call until it is restarted.
"""

import os
from base64 import b32encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from uuid import UUID

import structlog

from mcpguard.codec.canonical import Scalar, encode
from mcpguard.domain.calls.bodies import Body, KeptBody
from mcpguard.domain.calls.records import RecordKind
from mcpguard.domain.clock import Clock, Ids
from mcpguard.domain.errors import StoreUnavailable
from mcpguard.ledger.checkpoints import Checkpoint, CheckpointCause, SignedCheckpoint, sign
from mcpguard.ledger.format import GENESIS, SALT_BYTES, VERSION, Fields, body_fields, link
from mcpguard.ledger.keys import SigningKey
from mcpguard.ledger.rotations import Rotation, signing_key_of
from mcpguard.store.engine.backend import Connection
from mcpguard.store.rows import chains, checkpoints, records
from mcpguard.store.rows.checkpoints import StoredCheckpoint

Signing = Callable[[], object]
"""Called on the writer's thread when a checkpoint is stored."""
End = tuple[int, bytes]
"""Where a chain ends: the number of its last record, and its hash."""
log = structlog.get_logger("mcpguard.ledger")


@dataclass(frozen=True, slots=True)
class Head:
    """Where the acknowledged part of a chain ends."""

    seq: int
    hash: bytes


@dataclass(frozen=True, slots=True)
class ChainMark:
    """A savepoint of a transaction: the end of the chain, the checkpoint signed in it, and the key that takes over."""

    end: End
    signing: SignedCheckpoint | None
    next: SigningKey | None


class Chain:
    """Adds records to the newest chain of the store, beginning one in an empty store."""

    def __init__(self, key: SigningKey, every: int, clock: Clock, new_id: Ids) -> None:
        self.id = ""
        self._acknowledged: End | None = None
        self.signed: SignedCheckpoint | None = None
        self.on_signed: Signing = lambda: None
        self._key = key
        self._next: SigningKey | None = None
        self._doubtful: SigningKey | None = None
        self._every = every
        self._clock = clock
        self._new_id = new_id
        self._end: End | None = None
        self._start: End | None = None
        self._earlier_start = 0
        self._last_signed = 0
        self._signing: SignedCheckpoint | None = None
        self._due: CheckpointCause | None = None
        self._rows: list[Sequence[object]] = []
        self._bodies: list[Sequence[object]] = []

    @property
    def acknowledged(self) -> Head | None:
        """The last record that is known to be stored."""
        return None if self._acknowledged is None else Head(*self._acknowledged)

    @property
    def key(self) -> SigningKey:
        """The key that signs."""
        return self._key

    @property
    def public_key(self) -> str:
        """The public key of the key that signs, as it is written in records."""
        return self._key.public

    def sign_with(self, key: SigningKey) -> None:
        """Set the key that signs. Only before anything is signed."""
        self._key = key

    def append(self, kind: RecordKind, fields: Fields, body: Body | None = None) -> int:
        """Add a record to the running transaction; return its number. `fields` were checked by `canonical_json`."""
        assert self._end is not None  # noqa: S101 - `begin` has run: we are inside a transaction
        last, previous = self._end
        seq, at, said = last + 1, self._clock.now(), kind.value
        record: dict[str, Scalar] = {"v": VERSION, "chain": self.id, "seq": seq, "at": at, "kind": said, **fields}
        salt = os.urandom(SALT_BYTES) if isinstance(body, KeptBody) else b""
        if body is not None:
            record |= body_fields(body, salt)
        # The bytes that are hashed are the bytes that are stored: nothing is written twice, in two ways.
        content = encode(record)
        hash_ = link(previous, content)
        self._end = seq, hash_
        self._rows.append((hash_, content, *map(record.get, records.COLUMNS)))
        if isinstance(body, KeptBody):
            self._bodies.append((self.id, seq, salt, body.masked))
        # By this record the guard recognizes, later, that no other has started since.
        if kind is RecordKind.STARTED:
            self._start = self._end
        return seq

    def checkpoint(self, why: CheckpointCause) -> None:
        """Have the chain signed as it is when the running transaction ends."""
        self._due = why

    def rotate(self, connection: Connection, new: SigningKey, said: Fields) -> int:
        """Hand over to another key, which signs whatever follows. Returns the number of the record."""
        (last, hash_), old = self._known_end(), self._next or self._key
        rotation = Rotation(self.id, last + 1, self._clock.now(), hash_.hex(), old.public, new.public)
        self.append(RecordKind.ROTATED, {**said, **rotation.fields(old, new)})
        # Here and not at the end of the transaction: the old key must sign this record, and nothing after it.
        self._sign(connection, self._known_end(), CheckpointCause.ROTATION)
        self._next = new
        return rotation.seq

    def flush(self, connection: Connection) -> None:
        """Write the appended records, so that the transaction can read them."""
        if self._rows:
            records.ADD.run(connection, self._rows)
            self._rows.clear()
        if self._bodies:
            records.ADD_BODY.run(connection, self._bodies)
            self._bodies.clear()

    # The methods that the writer calls (store.writer.Participant).

    def begin(self, connection: Connection) -> None:
        if self._end is None:
            self._read(connection)

    def mark(self, connection: Connection) -> ChainMark:
        self.flush(connection)
        return ChainMark(self._known_end(), self._signing, self._next)

    def return_to(self, mark: object) -> None:
        assert isinstance(mark, ChainMark)  # noqa: S101 - the writer hands back what `mark` gave it
        # One job of the transaction failed: only its records go, those before it stay.
        self._end, self._signing, self._next = mark.end, mark.signing, mark.next
        self._rows.clear()
        self._bodies.clear()

    def prepare(self, connection: Connection) -> None:
        self.flush(connection)
        end = self._end
        assert end is not None  # noqa: S101 - `begin` has run
        # Counted from what this transaction has signed, too.
        signed_to = self._signing.statement.seq if self._signing else self._last_signed
        if self._due is None and end[0] - signed_to >= self._every:
            self._due = CheckpointCause.COUNT
        if self._due is not None and end[0] > signed_to:
            self._sign(connection, end, self._due)

    def confirm(self) -> None:
        self._acknowledged = self._end
        # Only now may the new key sign: before the commit the rotation may still be undone.
        self._key, self._next = self._next or self._key, None
        if self._signing is not None:
            self.signed, self._last_signed = self._signing, self._signing.statement.seq
            said = self.signed.statement
            log.info("ledger.checkpoint", chain=self.id, seq=said.seq, hash=said.hash, why=str(said.why))
            self.on_signed()
        self._signing = self._due = None

    def discard(self) -> None:
        # A commit that failed may have succeeded: the stored chain says which key signs, when it is read again.
        self._doubtful, self._next = self._next or self._doubtful, None
        self._end = self._signing = self._due = None
        self._rows.clear()
        self._bodies.clear()

    @property
    def _signed_to(self) -> int:
        return self._signing.statement.seq if self._signing else self._last_signed

    def _known_end(self) -> End:
        assert self._end is not None  # noqa: S101 - `begin` has run: we are inside a transaction
        return self._end

    def _read(self, connection: Connection) -> None:
        chain = chains.newest(connection)
        if chain is None:
            chain = _short(self._new_id())
            chains.begin(connection, chain, self._clock.now())
        # Before anything is appended: two guards on one database would undo each other's decisions.
        self._refuse_another(connection, chain)
        self.id = chain
        self._end = end = records.last_record(connection, chain) or (0, GENESIS)
        newest = checkpoints.last_checkpoint(connection, chain)
        self._last_signed = newest.seq if newest else 0
        if self._doubtful is not None and signing_key_of(connection, chain) == self._doubtful.public:
            self._key = self._doubtful
        self._doubtful = None
        # Whoever restores an older copy under a running guard takes acknowledged records away: that must leave a trace.
        known = self._acknowledged
        if known is not None and known[0] and records.hash_of(connection, chain, known[0]) != known[1]:
            log.error("ledger.lost", acknowledged=known[0], found=end[0])
            self.append(
                RecordKind.LOST,
                {"acknowledged": known[0], "acknowledged_hash": known[1].hex(), "found": end[0]},
            )

    def _refuse_another(self, connection: Connection, chain: str) -> None:
        newest = records.last_of_kind(connection, chain, RecordKind.STARTED)
        if self._start is None:
            self._earlier_start = newest  # this guard has not recorded its own start yet
            return
        known = self._earlier_start if chain == self.id else 0
        if newest > known and records.hash_of(connection, chain, newest) != self._start[1]:
            raise StoreUnavailable(
                f"another guard has started on this database since this one did (record {newest}), and this one does "
                "not know what was decided there. Restart this guard"
            )

    def _sign(self, connection: Connection, end: End, why: CheckpointCause) -> None:
        (seq, hash_), key = end, self._next or self._key
        statement = Checkpoint(self.id, seq, hash_.hex(), self._clock.now(), why, self._signed_to, key.public)
        signed = SignedCheckpoint(statement, sign(statement, key))
        checkpoints.add(connection, self.id, StoredCheckpoint(seq, statement.content(), signed.signature))
        self._signing = signed


def _short(id_: str) -> str:
    """Return the random end of an id in eight characters. A chain's id is repeated by every record, row and index."""
    return b32encode(UUID(id_).bytes[-5:]).decode().lower()
