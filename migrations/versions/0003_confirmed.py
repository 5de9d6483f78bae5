"""Confirmation: the values of settings that carry trust, as confirmed last; URI prefixes that were approved."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.create_table(
        "confirmed",
        sa.Column("key", sa.String, primary_key=True),
        sa.Column("value", sa.String, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("by", sa.String, nullable=False),
    )
    op.add_column("upstreams", sa.Column("prefixes", sa.String, nullable=False, server_default="[]"))
