"""The definitions of the tables of people, and what all definitions of tables share."""

from typing import Final

from sqlalchemy import BigInteger, Boolean, Column, Index, LargeBinary, MetaData, String, Table, text

WHERE: Final = "where"
"""Marks the condition of a partial index. SQLAlchemy's own keywords for it would load every database's dialect."""
HOLDS: Final = text("revoked_at IS NULL")
TABLES: Final = MetaData()
"""All tables, once `tables` is loaded."""

users = Table(
    "users",
    TABLES,
    Column("id", String(36), primary_key=True),
    Column("name", String(63), nullable=False),
    Column("role", String, nullable=False),
    Column("password", String, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("created_by", String, nullable=False),
    Column("disabled", Boolean, nullable=False),
    Index("user_once", "name", unique=True),
)
"""A user with a hash of their password. Users are never removed, so no name is used again."""

sessions = Table(
    "sessions",
    TABLES,
    Column("id", String(36), primary_key=True),
    Column("digest", LargeBinary, nullable=False),
    Column("user", String(36), nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("used_at", BigInteger, nullable=False),
    Column("password_at", BigInteger, nullable=False),
    Column("peer", String, nullable=False),
    Index("session_shown", "digest", unique=True),
)
"""A session of a user, with the digest of its cookie. Ended sessions are removed."""

tokens = Table(
    "tokens",
    TABLES,
    Column("id", String(36), primary_key=True),
    Column("name", String(63), nullable=False),
    Column("digest", LargeBinary, nullable=False),
    Column("role", String, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("created_by", String, nullable=False),
    Column("expires_at", BigInteger),
    Column("revoked_at", BigInteger),
    Column("revoked_by", String),
    Index("token_shown", "digest", unique=True),
    Index("token_once", "name", unique=True, info={WHERE: HOLDS}),
)
"""An operator's token, as a digest. Revoked ones stay."""

setups = Table(
    "setups",
    TABLES,
    Column("id", String(36), primary_key=True),
    Column("digest", LargeBinary, nullable=False),
    Column("expires_at", BigInteger, nullable=False),
    Column("used_at", BigInteger),
    Index("setup_shown", "digest", unique=True),
)
"""A setup link of the first user, as a digest. A used one marks that there was a user once."""
