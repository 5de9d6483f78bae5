"""The table definitions: columns and indexes without validation.

The neighbouring modules map rows to values of the domain; the tables of people are in `people_tables`. `migrations/`
creates the tables; a test compares the two.
"""

from typing import Final

from sqlalchemy import BigInteger, Boolean, Column, Index, Integer, LargeBinary, String, Table, text

from mcpguard.store.rows import people_tables
from mcpguard.store.rows.people_tables import HOLDS, WHERE

ONCE = text("kind IN ('opened', 'closed')")
OTHERWISE = text("kind NOT IN ('opened', 'closed')")
_THERE = text("NOT removed")
_NUMBER = BigInteger().with_variant(Integer(), "sqlite")
"""The number of a row. SQLite keeps a table by its number, without an index for that, only if it is so declared."""
TABLES: Final = people_tables.TABLES

chains = Table(
    "chains",
    TABLES,
    Column("id", String(36), primary_key=True),
    Column("created_at", BigInteger, nullable=False),
)
"""A hash chain of records; one guard process writes to it."""

records = Table(
    "records",
    TABLES,
    Column("chain", String(36), primary_key=True),
    Column("seq", _NUMBER, primary_key=True),
    Column("hash", LargeBinary, nullable=False),
    Column("content", LargeBinary),
    Column("at", BigInteger),
    Column("kind", String),
    Column("entry", String),
    Column("caller", String),
    Column("server", String),
    Column("capability", String),
    Column("name", String),
    Column("effect", String),
    Column("verdict", String),
    Column("outcome", String),
    Column("reason", String),
    Column("by", String),
    Column("parent", String),
    # Even with a bug in our code, an entry has one opening and one closing.
    Index("entry_once", "entry", "kind", unique=True, info={WHERE: ONCE}),
    # What the guard itself looks up; both leave out the records of which every call has two.
    Index("record_entry", "entry", info={WHERE: OTHERWISE}),
    Index("record_kind", "chain", "kind", "seq", info={WHERE: OTHERWISE}),
)
"""A record: its content, the hash that chains it, and columns for searching, which repeat fields of the content.

A pruned record keeps `chain`, `seq` and `hash`; everything else is null. Records and bodies are named by `chain` and
`seq`. A store has one chain, and a SQLite file that this version began keeps both by `seq` alone.
"""

search_blocks = Table(
    "search_blocks",
    TABLES,
    Column("chain", String(36), primary_key=True),
    Column("block", BigInteger, primary_key=True),
    Column("first_at", BigInteger),
    Column("last_at", BigInteger),
)
"""A block of records that is indexed, with the first and the last time in it (`search_index`)."""

search_values = Table(
    "search_values",
    TABLES,
    Column("chain", String(36), primary_key=True),
    Column("span", BigInteger, primary_key=True),
    Column("field", String, primary_key=True),
    Column("value", String, primary_key=True),
    Column("block", BigInteger, primary_key=True),
)
"""A value of a column of records that occurs in an indexed block."""

bodies = Table(
    "bodies",
    TABLES,
    Column("chain", String(36), primary_key=True),
    Column("seq", _NUMBER, primary_key=True),
    Column("salt", LargeBinary),
    Column("content", LargeBinary),
)
"""The masked arguments or reply whose digest a record has. A pruned body keeps only its key."""

checkpoints = Table(
    "checkpoints",
    TABLES,
    Column("chain", String(36), primary_key=True),
    Column("seq", BigInteger, primary_key=True),
    Column("content", LargeBinary, nullable=False),
    Column("signature", LargeBinary, nullable=False),
)
"""A signed statement about a chain up to the record `seq`."""

upstreams = Table(
    "upstreams",
    TABLES,
    Column("id", String(36), primary_key=True),
    Column("name", String(63), nullable=False),
    Column("transport", String, nullable=False),
    Column("standing", String, nullable=False),
    Column("enabled", Boolean, nullable=False),
    Column("may_ask", String, nullable=False),
    Column("origin", String, nullable=False),
    Column("requester", String, nullable=False),
    Column("launch", String),
    Column("observed", String),
    Column("approved_launch", String),
    Column("approved_observed", String),
    Column("artifact", String),
    Column("generation", BigInteger, nullable=False),
    Column("revision", BigInteger, nullable=False),
    Column("removed", Boolean, nullable=False),
    Column("declaration", LargeBinary, nullable=False),
    Column("prefixes", String, nullable=False, server_default="[]"),
    Column("disabled_by", String, nullable=False, server_default=""),
    Column("screening", String, nullable=False, server_default=""),
    Column("rejected_launch", String),
    Column("rejected_observed", String),
    Column("findings_read", String, nullable=False, server_default=""),
    Column("inspection", LargeBinary),
    Column("findings_rest_on", LargeBinary),
    # A name belongs to one server; tombstones keep theirs.
    Index("upstream_once", "name", unique=True, info={WHERE: _THERE}),
)
"""A server with its status and its declaration, which is sealed: it may contain secrets that were written out.

`inspection`: as JSON, the last one if it is running or failed (`domain/servers/inspections.py`).
`findings_rest_on`: a digest (`guard/servers/listed_findings.py`); null if unknown.
"""

capabilities = Table(
    "capabilities",
    TABLES,
    Column("id", String(36), primary_key=True),
    Column("upstream", String(36), nullable=False),
    Column("kind", String, nullable=False),
    Column("name", String, nullable=False),
    Column("standing", String, nullable=False),
    Column("present", Boolean, nullable=False),
    Column("listed", String),
    Column("approved", String),
    Column("effect", String),
    Column("returned", Boolean, nullable=False, default=False),
    Column("rejected", String),
    Column("generation", BigInteger, nullable=False),
    Column("findings_read", String, nullable=False, server_default=""),
    Column("approved_since", BigInteger, nullable=False, server_default="0"),
    Index("capability_once", "upstream", "kind", "name", unique=True),
)
"""A pin: the status of one capability of a server (`domain/servers/pins.py`)."""

versions = Table(
    "versions",
    TABLES,
    Column("capability", String(36), primary_key=True),
    Column("fingerprint", String(67), primary_key=True),
    Column("definition", LargeBinary, nullable=False),
    Column("first_seen", BigInteger, nullable=False),
    Column("last_seen", BigInteger, nullable=False),
    Column("found", LargeBinary),
)
"""One definition of a capability as the server listed it, and when (UTC, microseconds).

`found`: the findings when it was listed last (`codec/findings.py`); null if there were none.
"""

confirmed = Table(
    "confirmed",
    TABLES,
    Column("key", String, primary_key=True),
    Column("value", String, nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("by", String, nullable=False),
)
"""The last confirmed value, as JSON, of a setting that carries trust; when and by whom."""

callers = Table(
    "callers",
    TABLES,
    Column("id", String(36), primary_key=True),
    Column("label", String(63), nullable=False),
    Column("digest", LargeBinary, nullable=False),
    Column("servers", String, nullable=False),
    Column("tools", String, nullable=False),
    Column("effects", String, nullable=False),
    Column("must_declare", Boolean, nullable=False),
    Column("manage", Boolean, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("created_by", String, nullable=False),
    Column("expires_at", BigInteger),
    Column("revoked_at", BigInteger),
    Column("revoked_by", String),
    Column("certificate", String),
    Index("caller_shown", "digest", unique=True),
    # A label belongs to one active caller; revoked ones keep theirs.
    Index("caller_once", "label", unique=True, info={WHERE: HOLDS}),
)
"""A caller with its scope and the digest of its token, or a name in certificates. Revoked ones stay."""

holds = Table(
    "holds",
    TABLES,
    Column("id", String(36), primary_key=True),
    Column("state", String, nullable=False),
    Column("same", LargeBinary, nullable=False),
    Column("caller", String(36), nullable=False),
    Column("upstream", String(36), nullable=False),
    Column("upstream_generation", BigInteger, nullable=False),
    Column("pin", String(36)),
    Column("pin_generation", BigInteger),
    Column("until", BigInteger, nullable=False),
    Column("said", LargeBinary, nullable=False),
    Index("hold_state", "state"),
)
"""A held call that waits, or is approved and not yet made (`domain/calls/holds.py`). `same`: equal for equal calls.

`said`: what is shown of it, as JSON; none of it is compared.
"""

allowances = Table(
    "allowances",
    TABLES,
    Column("id", String(36), primary_key=True),
    Column("until", BigInteger, nullable=False),
    Column("calls_left", Integer, nullable=False),
    Column("said", LargeBinary, nullable=False),
)
"""An allowance that has not ended (`domain/calls/allowances.py`). `said`: the rest of it, as JSON."""

scripts = Table(
    "scripts",
    TABLES,
    Column("name", String(64), primary_key=True),
    Column("definition", LargeBinary, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("by", String, nullable=False),
)
"""A script as it was written down last (`codec/script_definitions.py`)."""

counted_until = Table(
    "counted_until",
    TABLES,
    Column("chain", String(36), primary_key=True),
    Column("seq", BigInteger, nullable=False),
)
"""The number up to which the records of a chain are counted in the following two tables."""

counted_calls = Table(
    "counted_calls",
    TABLES,
    Column("chain", String(36), primary_key=True),
    Column("grain", BigInteger, primary_key=True),
    Column("detail", Integer, primary_key=True),
    Column("slot", BigInteger, primary_key=True),
    *(Column(name, String, primary_key=True) for name in ("server", "name", "caller")),
    *(Column(name, String, primary_key=True) for name in ("effect", "verdict", "outcome", "reason")),
    Column("calls", BigInteger, nullable=False),
)
"""How many calls with these values were opened in a slot: so many microseconds (`grain`) from `slot` on.

`outcome` is empty while they are open. Every call is counted twice: by server alone (`detail` 0), and by server, name
and caller (1).
"""

counted_durations = Table(
    "counted_durations",
    TABLES,
    Column("chain", String(36), primary_key=True),
    Column("grain", BigInteger, primary_key=True),
    Column("detail", Integer, primary_key=True),
    Column("slot", BigInteger, primary_key=True),
    *(Column(name, String, primary_key=True) for name in ("server", "name", "caller")),
    Column("bucket", Integer, primary_key=True),
    Column("calls", BigInteger, nullable=False),
)
"""How many of the calls of a slot that were sent took so long (`domain/calls/durations.py`)."""
