"""What inspection found in each definition, and what ran when a server was observed; of those that were seen before,
nothing is known yet.
"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.add_column("versions", sa.Column("found", sa.LargeBinary))
    op.add_column("upstreams", sa.Column("artifact", sa.String))
