"""The index of searches, which is kept up after the records are stored, instead of indexes that every record extends.

A running guard fills it, a few blocks of records at a time; until then searches read the records themselves.
"""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    for column in ("at", "server", "name", "caller", "verdict", "outcome", "effect", "reason", "by"):
        op.drop_index(f"record_{column}", "records")
    op.create_table(
        "search_blocks",
        sa.Column("chain", sa.String(36), primary_key=True),
        sa.Column("block", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("first_at", sa.BigInteger),
        sa.Column("last_at", sa.BigInteger),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "search_values",
        sa.Column("chain", sa.String(36), primary_key=True),
        sa.Column("span", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("field", sa.String, primary_key=True),
        sa.Column("value", sa.String, primary_key=True),
        sa.Column("block", sa.BigInteger, primary_key=True, autoincrement=False),
        sqlite_with_rowid=False,
    )
