"""Quarantine: upstreams, where each of their capabilities stands, and every definition of it that was seen."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.create_table(
        "upstreams",
        sa.Column("id", sa.String(36), primary_key=True),
        sa.Column("name", sa.String(63), nullable=False),
        sa.Column("transport", sa.String, nullable=False),
        sa.Column("standing", sa.String, nullable=False),
        sa.Column("enabled", sa.Boolean, nullable=False),
        sa.Column("may_ask", sa.String, nullable=False),
        sa.Column("origin", sa.String, nullable=False),
        sa.Column("requester", sa.String, nullable=False),
        sa.Column("launch", sa.String),
        sa.Column("observed", sa.String),
        sa.Column("approved_launch", sa.String),
        sa.Column("approved_observed", sa.String),
        sa.Column("generation", sa.BigInteger, nullable=False),
        sa.Column("revision", sa.BigInteger, nullable=False),
        sa.Column("removed", sa.Boolean, nullable=False),
        sa.Column("declaration", sa.LargeBinary, nullable=False),
    )
    there = sa.text("NOT removed")
    op.create_index("upstream_once", "upstreams", ["name"], unique=True, sqlite_where=there, postgresql_where=there)
    op.create_table(
        "capabilities",
        sa.Column("id", sa.String(36), primary_key=True),
        sa.Column("upstream", sa.String(36), nullable=False),
        sa.Column("kind", sa.String, nullable=False),
        sa.Column("name", sa.String, nullable=False),
        sa.Column("standing", sa.String, nullable=False),
        sa.Column("present", sa.Boolean, nullable=False),
        sa.Column("listed", sa.String),
        sa.Column("approved", sa.String),
        sa.Column("effect", sa.String),
        sa.Column("returned", sa.Boolean, nullable=False),
        sa.Column("rejected", sa.String),
        sa.Column("generation", sa.BigInteger, nullable=False),
    )
    op.create_index("capability_once", "capabilities", ["upstream", "kind", "name"], unique=True)
    op.create_table(
        "versions",
        sa.Column("capability", sa.String(36), primary_key=True),
        sa.Column("fingerprint", sa.String(67), primary_key=True),
        sa.Column("definition", sa.LargeBinary, nullable=False),
        sa.Column("first_seen", sa.BigInteger, nullable=False),
        sa.Column("last_seen", sa.BigInteger, nullable=False),
    )
