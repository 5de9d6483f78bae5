"""Which grave findings were read before something was approved, and how the last inspection of a server failed.

Of approvals from before this nobody knows what was read.
"""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    for table in ("upstreams", "capabilities"):
        op.add_column(table, sa.Column("findings_read", sa.String, nullable=False, server_default=""))
    op.add_column("upstreams", sa.Column("inspection", sa.LargeBinary))
