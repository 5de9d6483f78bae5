"""Counted calls: how many there were in each minute, hour and day, and how long they took.

A running guard counts the records that are there, in the background.
"""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"


def slot_key(*names: str) -> tuple[sa.Column[str] | sa.Column[int], ...]:
    return (
        sa.Column("chain", sa.String(36), primary_key=True),
        sa.Column("grain", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("detail", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("slot", sa.BigInteger, primary_key=True, autoincrement=False),
        *(sa.Column(name, sa.String, primary_key=True) for name in names),
    )


def upgrade() -> None:
    op.create_table(
        "counted_until",
        sa.Column("chain", sa.String(36), primary_key=True),
        sa.Column("seq", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "counted_calls",
        *slot_key("server", "name", "caller", "effect", "verdict", "outcome", "reason"),
        sa.Column("calls", sa.BigInteger, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "counted_durations",
        *slot_key("server", "name", "caller"),
        sa.Column("bucket", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("calls", sa.BigInteger, nullable=False),
        sqlite_with_rowid=False,
    )
