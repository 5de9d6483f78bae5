"""Scripts: programs with a name, which a person approves like the tools of a server."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    op.create_table(
        "scripts",
        sa.Column("name", sa.String(64), primary_key=True),
        sa.Column("definition", sa.LargeBinary, nullable=False),
        sa.Column("revision", sa.Integer, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("by", sa.String, nullable=False),
    )
