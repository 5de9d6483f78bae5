"""Who switched a server off, where it was a caller and not a person: nobody but that caller may take it back."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.add_column("upstreams", sa.Column("disabled_by", sa.String, nullable=False, server_default=""))
