"""Callers: the agents that a person gave a token, of which a digest is kept, and how far each may reach."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.create_table(
        "callers",
        sa.Column("id", sa.String(36), primary_key=True),
        sa.Column("label", sa.String(63), nullable=False),
        sa.Column("digest", sa.LargeBinary, nullable=False),
        sa.Column("servers", sa.String, nullable=False),
        sa.Column("tools", sa.String, nullable=False),
        sa.Column("effects", sa.String, nullable=False),
        sa.Column("must_declare", sa.Boolean, nullable=False),
        sa.Column("manage", sa.Boolean, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("created_by", sa.String, nullable=False),
        sa.Column("expires_at", sa.BigInteger),
        sa.Column("revoked_at", sa.BigInteger),
        sa.Column("revoked_by", sa.String),
    )
    op.create_index("caller_shown", "callers", ["digest"], unique=True)
    there = sa.text("revoked_at IS NULL")
    op.create_index("caller_once", "callers", ["label"], unique=True, sqlite_where=there, postgresql_where=there)
