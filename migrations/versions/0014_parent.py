"""The run of a program that a call was made from, as a column by which its calls are found."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    op.add_column("records", sa.Column("parent", sa.String))
