"""When each capability was approved, which settles whose is the name of two tools.

What is approved already counts from when it was seen first: the first part of its id is that time in milliseconds.
"""

import re

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
_UUID_7 = re.compile("[0-9a-f]{8}-[0-9a-f]{4}-7")


def upgrade() -> None:
    op.add_column("capabilities", sa.Column("approved_since", sa.BigInteger, nullable=False, server_default="0"))
    capabilities = sa.table(
        "capabilities", sa.column("id", sa.String), sa.column("approved"), sa.column("approved_since", sa.BigInteger)
    )
    connection = op.get_bind()
    approved = connection.scalars(sa.select(capabilities.c.id).where(capabilities.c.approved.is_not(None))).all()
    if approved:
        change = capabilities.update().where(capabilities.c.id == sa.bindparam("key"))
        times = [{"key": id_, "seen": _seen_first(id_)} for id_ in approved]
        connection.execute(change.values(approved_since=sa.bindparam("seen")), times)


def _seen_first(id_: str) -> int:
    return int(id_[:13].replace("-", ""), 16) * 1000 if _UUID_7.match(id_) else 0
