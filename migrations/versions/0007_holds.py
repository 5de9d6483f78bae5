"""Calls that wait for a person, and what becomes of the replies of a server that differ from what is usual."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.create_table(
        "holds",
        sa.Column("id", sa.String(36), primary_key=True),
        sa.Column("state", sa.String, nullable=False),
        sa.Column("same", sa.LargeBinary, nullable=False),
        sa.Column("caller", sa.String(36), nullable=False),
        sa.Column("upstream", sa.String(36), nullable=False),
        sa.Column("upstream_generation", sa.BigInteger, nullable=False),
        sa.Column("pin", sa.String(36), nullable=True),
        sa.Column("pin_generation", sa.BigInteger, nullable=True),
        sa.Column("until", sa.BigInteger, nullable=False),
        sa.Column("said", sa.LargeBinary, nullable=False),
    )
    op.create_index("hold_state", "holds", ["state"])
    op.add_column("upstreams", sa.Column("screening", sa.String, nullable=False, server_default=""))
