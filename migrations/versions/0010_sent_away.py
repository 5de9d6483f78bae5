"""As whom a server was sent out of the inbox by a person."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    op.add_column("upstreams", sa.Column("rejected_launch", sa.String))
    op.add_column("upstreams", sa.Column("rejected_observed", sa.String))
