"""Records and bodies of a new SQLite file are kept by their number, without an index beside the table for their key.

A store has one chain, so a number belongs to one record. The rows and what they say are the same, and so is every
query. A file that has records already keeps its key: to copy them would take longer, and more space, than it spares.
"""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"

ONCE = sa.text("kind IN ('opened', 'closed')")
OTHERWISE = sa.text("kind NOT IN ('opened', 'closed')")
TEXTS = ("kind", "entry", "caller", "server", "capability", "name", "effect", "verdict", "outcome", "reason", "by")


def upgrade() -> None:
    database = op.get_bind()
    if database.dialect.name != "sqlite":
        return
    if any(database.scalar(sa.text(f"SELECT 1 FROM {table} LIMIT 1")) for table in ("records", "bodies")):  # noqa: S608 - ours
        return
    op.drop_table("records")
    op.drop_table("bodies")
    op.create_table(
        "records",
        sa.Column("chain", sa.String(36), nullable=False),
        sa.Column("seq", sa.Integer, primary_key=True),
        sa.Column("hash", sa.LargeBinary, nullable=False),
        sa.Column("content", sa.LargeBinary),
        sa.Column("at", sa.BigInteger),
        *(sa.Column(name, sa.String) for name in (*TEXTS, "parent")),
    )
    op.create_index("entry_once", "records", ["entry", "kind"], unique=True, sqlite_where=ONCE)
    op.create_index("record_entry", "records", ["entry"], sqlite_where=OTHERWISE)
    op.create_index("record_kind", "records", ["chain", "kind", "seq"], sqlite_where=OTHERWISE)
    op.create_table(
        "bodies",
        sa.Column("chain", sa.String(36), nullable=False),
        sa.Column("seq", sa.Integer, primary_key=True),
        sa.Column("salt", sa.LargeBinary),
        sa.Column("content", sa.LargeBinary),
    )
