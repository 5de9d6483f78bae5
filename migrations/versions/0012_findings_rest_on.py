"""What the kept findings in what a server lists rest on; of those from before this nobody knows, so they are looked for
again."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    op.add_column("upstreams", sa.Column("findings_rest_on", sa.LargeBinary))
