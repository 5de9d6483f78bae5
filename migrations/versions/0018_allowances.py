"""Held calls that a person allows for some minutes, together with their like."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"


def upgrade() -> None:
    op.create_table(
        "allowances",
        sa.Column("id", sa.String(36), primary_key=True),
        sa.Column("until", sa.BigInteger, nullable=False),
        sa.Column("calls_left", sa.Integer, nullable=False),
        sa.Column("said", sa.LargeBinary, nullable=False),
    )
