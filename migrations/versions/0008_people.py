"""People: who may sign in, who is signed in, operators' tokens, and the links of first starts."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    op.create_table(
        "users",
        sa.Column("id", sa.String(36), primary_key=True),
        sa.Column("name", sa.String(63), nullable=False),
        sa.Column("role", sa.String, nullable=False),
        sa.Column("password", sa.String, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("created_by", sa.String, nullable=False),
        sa.Column("disabled", sa.Boolean, nullable=False),
    )
    op.create_index("user_once", "users", ["name"], unique=True)
    op.create_table(
        "sessions",
        sa.Column("id", sa.String(36), primary_key=True),
        sa.Column("digest", sa.LargeBinary, nullable=False),
        sa.Column("user", sa.String(36), nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("used_at", sa.BigInteger, nullable=False),
        sa.Column("password_at", sa.BigInteger, nullable=False),
        sa.Column("peer", sa.String, nullable=False),
    )
    op.create_index("session_shown", "sessions", ["digest"], unique=True)
    op.create_table(
        "tokens",
        sa.Column("id", sa.String(36), primary_key=True),
        sa.Column("name", sa.String(63), nullable=False),
        sa.Column("digest", sa.LargeBinary, nullable=False),
        sa.Column("role", sa.String, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("created_by", sa.String, nullable=False),
        sa.Column("expires_at", sa.BigInteger),
        sa.Column("revoked_at", sa.BigInteger),
        sa.Column("revoked_by", sa.String),
    )
    op.create_index("token_shown", "tokens", ["digest"], unique=True)
    there = sa.text("revoked_at IS NULL")
    op.create_index("token_once", "tokens", ["name"], unique=True, sqlite_where=there, postgresql_where=there)
    op.create_table(
        "setups",
        sa.Column("id", sa.String(36), primary_key=True),
        sa.Column("digest", sa.LargeBinary, nullable=False),
        sa.Column("expires_at", sa.BigInteger, nullable=False),
        sa.Column("used_at", sa.BigInteger),
    )
    op.create_index("setup_shown", "setups", ["digest"], unique=True)
