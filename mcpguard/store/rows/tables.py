"""The table definitions: columns and indexes without validation.

The neighbouring modules map rows to values of the domain. `migrations/` creates the tables; a test compares the two.
"""

from sqlalchemy import BigInteger, Index, LargeBinary, text
from sqlmodel import Field, SQLModel

ONCE = text("kind IN ('opened', 'closed')")
OTHERWISE = text("kind NOT IN ('opened', 'closed')")
NOT_ALLOWED = text("verdict <> 'allow'")
NOT_ANSWERED = text("outcome <> 'answered'")
NOT_READ = text("effect <> 'read'")
_REASON = text("reason IS NOT NULL")
_BY = text('"by" IS NOT NULL')
_THERE = text("NOT removed")
_HOLDS = text("revoked_at IS NULL")


class ChainRow(SQLModel, table=True):
    """A hash chain of records; one guard process writes to it."""

    __tablename__ = "chains"

    id: str = Field(primary_key=True, max_length=36)
    created_at: int = Field(sa_type=BigInteger)


class RecordRow(SQLModel, table=True):
    """A record: its content, the hash that chains it, and columns for searching, which repeat fields of the content.

    A pruned record keeps `chain`, `seq` and `hash`; everything else is null.
    """

    __tablename__ = "records"
    __table_args__ = (
        # Even with a bug in our code, an entry has one opening and one closing.
        Index("entry_once", "entry", "kind", unique=True, sqlite_where=ONCE, postgresql_where=ONCE),
        # Searches by column, in the order of results. Partial indexes leave out the most frequent values.
        Index("record_entry", "entry", sqlite_where=OTHERWISE, postgresql_where=OTHERWISE),
        Index("record_kind", "chain", "kind", "seq", sqlite_where=OTHERWISE, postgresql_where=OTHERWISE),
        Index("record_at", "chain", "at", "seq"),
        Index("record_server", "chain", "server", "seq"),
        Index("record_name", "chain", "name", "seq"),
        Index("record_caller", "chain", "caller", "seq"),
        Index("record_verdict", "chain", "verdict", "seq", sqlite_where=NOT_ALLOWED, postgresql_where=NOT_ALLOWED),
        Index("record_outcome", "chain", "outcome", "seq", sqlite_where=NOT_ANSWERED, postgresql_where=NOT_ANSWERED),
        Index("record_effect", "chain", "effect", "seq", sqlite_where=NOT_READ, postgresql_where=NOT_READ),
        Index("record_reason", "chain", "reason", "seq", sqlite_where=_REASON, postgresql_where=_REASON),
        Index("record_by", "chain", "by", "seq", sqlite_where=_BY, postgresql_where=_BY),
    )

    chain: str = Field(primary_key=True, max_length=36)
    seq: int = Field(primary_key=True, sa_type=BigInteger)
    hash: bytes = Field(sa_type=LargeBinary)
    content: bytes | None = Field(default=None, sa_type=LargeBinary)
    at: int | None = Field(default=None, sa_type=BigInteger)
    kind: str | None = None
    entry: str | None = None
    caller: str | None = None
    server: str | None = None
    capability: str | None = None
    name: str | None = None
    effect: str | None = None
    verdict: str | None = None
    outcome: str | None = None
    reason: str | None = None
    by: str | None = None


class BodyRow(SQLModel, table=True):
    """The masked arguments or reply whose digest a record has. A pruned body keeps only its key."""

    __tablename__ = "bodies"

    chain: str = Field(primary_key=True, max_length=36)
    seq: int = Field(primary_key=True, sa_type=BigInteger)
    salt: bytes | None = Field(default=None, sa_type=LargeBinary)
    content: bytes | None = Field(default=None, sa_type=LargeBinary)


class CheckpointRow(SQLModel, table=True):
    """A signed statement about a chain up to the record `seq`."""

    __tablename__ = "checkpoints"

    chain: str = Field(primary_key=True, max_length=36)
    seq: int = Field(primary_key=True, sa_type=BigInteger)
    content: bytes = Field(sa_type=LargeBinary)
    signature: bytes = Field(sa_type=LargeBinary)


class UpstreamRow(SQLModel, table=True):
    """A server with its status and its declaration, which is sealed: it may contain secrets that were written out.

    `inspection`: as JSON, the last one if it is running or failed (`domain/servers/inspections.py`).
    """

    __tablename__ = "upstreams"
    __table_args__ = (
        # A name belongs to one server; tombstones keep theirs.
        Index("upstream_once", "name", unique=True, sqlite_where=_THERE, postgresql_where=_THERE),
    )

    id: str = Field(primary_key=True, max_length=36)
    name: str = Field(max_length=63)
    transport: str
    standing: str
    enabled: bool
    may_ask: str
    origin: str
    requester: str
    launch: str | None = None
    observed: str | None = None
    approved_launch: str | None = None
    approved_observed: str | None = None
    artifact: str | None = None
    generation: int = Field(sa_type=BigInteger)
    revision: int = Field(sa_type=BigInteger)
    removed: bool
    declaration: bytes = Field(sa_type=LargeBinary)
    prefixes: str = Field(sa_column_kwargs={"server_default": "[]"})
    disabled_by: str = Field(sa_column_kwargs={"server_default": ""})
    screening: str = Field(sa_column_kwargs={"server_default": ""})
    rejected_launch: str | None = None
    rejected_observed: str | None = None
    findings_read: str = Field(sa_column_kwargs={"server_default": ""})
    inspection: bytes | None = Field(default=None, sa_type=LargeBinary)


class CapabilityRow(SQLModel, table=True):
    """A pin: the status of one capability of a server (`domain/servers/pins.py`)."""

    __tablename__ = "capabilities"
    __table_args__ = (Index("capability_once", "upstream", "kind", "name", unique=True),)

    id: str = Field(primary_key=True, max_length=36)
    upstream: str = Field(max_length=36)
    kind: str
    name: str
    standing: str
    present: bool
    listed: str | None = None
    approved: str | None = None
    effect: str | None = None
    returned: bool = False
    rejected: str | None = None
    generation: int = Field(sa_type=BigInteger)
    findings_read: str = Field(sa_column_kwargs={"server_default": ""})


class VersionRow(SQLModel, table=True):
    """One definition of a capability as the server listed it, and when (UTC, microseconds).

    `found`: the findings when it was listed last (`codec/findings.py`); null if there were none.
    """

    __tablename__ = "versions"

    capability: str = Field(primary_key=True, max_length=36)
    fingerprint: str = Field(primary_key=True, max_length=67)
    definition: bytes = Field(sa_type=LargeBinary)
    first_seen: int = Field(sa_type=BigInteger)
    last_seen: int = Field(sa_type=BigInteger)
    found: bytes | None = Field(default=None, sa_type=LargeBinary)


class ConfirmedRow(SQLModel, table=True):
    """The last confirmed value, as JSON, of a setting that carries trust; when and by whom."""

    __tablename__ = "confirmed"

    key: str = Field(primary_key=True)
    value: str
    at: int = Field(sa_type=BigInteger)
    by: str


class CallerRow(SQLModel, table=True):
    """A caller with its scope and the digest of its token. Revoked ones stay."""

    __tablename__ = "callers"
    __table_args__ = (
        Index("caller_shown", "digest", unique=True),
        # A label belongs to one active caller; revoked ones keep theirs.
        Index("caller_once", "label", unique=True, sqlite_where=_HOLDS, postgresql_where=_HOLDS),
    )

    id: str = Field(primary_key=True, max_length=36)
    label: str = Field(max_length=63)
    digest: bytes = Field(sa_type=LargeBinary)
    servers: str
    tools: str
    effects: str
    must_declare: bool
    manage: bool
    created_at: int = Field(sa_type=BigInteger)
    created_by: str
    expires_at: int | None = Field(default=None, sa_type=BigInteger)
    revoked_at: int | None = Field(default=None, sa_type=BigInteger)
    revoked_by: str | None = None


class HoldRow(SQLModel, table=True):
    """A held call that waits, or is approved and not yet made (`domain/calls/holds.py`). `same`: equal for equal calls.

    `said`: what is shown of it, as JSON; none of it is compared.
    """

    __tablename__ = "holds"
    __table_args__ = (Index("hold_state", "state"),)

    id: str = Field(primary_key=True, max_length=36)
    state: str
    same: bytes = Field(sa_type=LargeBinary)
    caller: str = Field(max_length=36)
    upstream: str = Field(max_length=36)
    upstream_generation: int = Field(sa_type=BigInteger)
    pin: str | None = Field(default=None, max_length=36)
    pin_generation: int | None = Field(default=None, sa_type=BigInteger)
    until: int = Field(sa_type=BigInteger)
    said: bytes = Field(sa_type=LargeBinary)


class UserRow(SQLModel, table=True):
    """A user with a hash of their password. Users are never removed, so no name is used again."""

    __tablename__ = "users"
    __table_args__ = (Index("user_once", "name", unique=True),)

    id: str = Field(primary_key=True, max_length=36)
    name: str = Field(max_length=63)
    role: str
    password: str
    created_at: int = Field(sa_type=BigInteger)
    created_by: str
    disabled: bool


class SessionRow(SQLModel, table=True):
    """A session of a user, with the digest of its cookie. Ended sessions are removed."""

    __tablename__ = "sessions"
    __table_args__ = (Index("session_shown", "digest", unique=True),)

    id: str = Field(primary_key=True, max_length=36)
    digest: bytes = Field(sa_type=LargeBinary)
    user: str = Field(max_length=36)
    created_at: int = Field(sa_type=BigInteger)
    used_at: int = Field(sa_type=BigInteger)
    password_at: int = Field(sa_type=BigInteger)
    peer: str


class TokenRow(SQLModel, table=True):
    """An operator's token, as a digest. Revoked ones stay."""

    __tablename__ = "tokens"
    __table_args__ = (
        Index("token_shown", "digest", unique=True),
        Index("token_once", "name", unique=True, sqlite_where=_HOLDS, postgresql_where=_HOLDS),
    )

    id: str = Field(primary_key=True, max_length=36)
    name: str = Field(max_length=63)
    digest: bytes = Field(sa_type=LargeBinary)
    role: str
    created_at: int = Field(sa_type=BigInteger)
    created_by: str
    expires_at: int | None = Field(default=None, sa_type=BigInteger)
    revoked_at: int | None = Field(default=None, sa_type=BigInteger)
    revoked_by: str | None = None


class SetupRow(SQLModel, table=True):
    """A setup link of the first user, as a digest. A used one marks that there was a user once."""

    __tablename__ = "setups"
    __table_args__ = (Index("setup_shown", "digest", unique=True),)

    id: str = Field(primary_key=True, max_length=36)
    digest: bytes = Field(sa_type=LargeBinary)
    expires_at: int = Field(sa_type=BigInteger)
    used_at: int | None = Field(default=None, sa_type=BigInteger)


chains = SQLModel.metadata.tables["chains"]
records = SQLModel.metadata.tables["records"]
bodies = SQLModel.metadata.tables["bodies"]
checkpoints = SQLModel.metadata.tables["checkpoints"]
upstreams = SQLModel.metadata.tables["upstreams"]
capabilities = SQLModel.metadata.tables["capabilities"]
versions = SQLModel.metadata.tables["versions"]
confirmed = SQLModel.metadata.tables["confirmed"]
callers = SQLModel.metadata.tables["callers"]
holds = SQLModel.metadata.tables["holds"]
users = SQLModel.metadata.tables["users"]
sessions = SQLModel.metadata.tables["sessions"]
tokens = SQLModel.metadata.tables["tokens"]
setups = SQLModel.metadata.tables["setups"]
