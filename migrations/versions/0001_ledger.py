"""The ledger: chains, records, bodies, checkpoints."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "chains",
        sa.Column("id", sa.String(36), primary_key=True),
        sa.Column("created_at", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "records",
        sa.Column("chain", sa.String(36), primary_key=True),
        sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("hash", sa.LargeBinary, nullable=False),
        sa.Column("content", sa.LargeBinary),
        sa.Column("at", sa.BigInteger),
        sa.Column("kind", sa.String),
        sa.Column("entry", sa.String),
        sa.Column("caller", sa.String),
        sa.Column("server", sa.String),
        sa.Column("capability", sa.String),
        sa.Column("name", sa.String),
        sa.Column("effect", sa.String),
        sa.Column("verdict", sa.String),
        sa.Column("outcome", sa.String),
        sa.Column("reason", sa.String),
    )
    once = sa.text("kind IN ('opened', 'closed')")
    op.create_index("entry_once", "records", ["entry", "kind"], unique=True, sqlite_where=once, postgresql_where=once)
    op.create_table(
        "bodies",
        sa.Column("chain", sa.String(36), primary_key=True),
        sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("salt", sa.LargeBinary),
        sa.Column("content", sa.LargeBinary),
    )
    op.create_table(
        "checkpoints",
        sa.Column("chain", sa.String(36), primary_key=True),
        sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("content", sa.LargeBinary, nullable=False),
        sa.Column("signature", sa.LargeBinary, nullable=False),
    )
