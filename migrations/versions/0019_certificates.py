"""Callers that are known by a name in their client certificate, which has the place of a token."""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    op.add_column("callers", sa.Column("certificate", sa.String))
