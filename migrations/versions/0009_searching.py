"""The audit log as something to search: who did it, and indexes by what is looked for."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"

OTHERWISE = sa.text("kind NOT IN ('opened', 'closed')")
NOT_ALLOWED = sa.text("verdict <> 'allow'")
NOT_ANSWERED = sa.text("outcome <> 'answered'")
NOT_READ = sa.text("effect <> 'read'")
REASON = sa.text("reason IS NOT NULL")
BY = sa.text('"by" IS NOT NULL')
SAYS = {
    "sqlite": "json_extract(CAST(content AS TEXT), '$.by')",
    "postgresql": "convert_from(content, 'UTF8')::json ->> 'by'",
}


def upgrade() -> None:
    op.add_column("records", sa.Column("by", sa.String, nullable=True))
    said = SAYS[op.get_bind().dialect.name]
    op.execute(f"UPDATE records SET \"by\" = {said} WHERE content IS NOT NULL AND kind <> 'closed'")  # noqa: S608 - ours
    _index("record_entry", "entry", where=OTHERWISE)
    _index("record_kind", "chain", "kind", "seq", where=OTHERWISE)
    _index("record_at", "chain", "at", "seq")
    _index("record_server", "chain", "server", "seq")
    _index("record_name", "chain", "name", "seq")
    _index("record_caller", "chain", "caller", "seq")
    _index("record_verdict", "chain", "verdict", "seq", where=NOT_ALLOWED)
    _index("record_outcome", "chain", "outcome", "seq", where=NOT_ANSWERED)
    _index("record_effect", "chain", "effect", "seq", where=NOT_READ)
    _index("record_reason", "chain", "reason", "seq", where=REASON)
    _index("record_by", "chain", "by", "seq", where=BY)


def _index(name: str, *columns: str, where: sa.TextClause | None = None) -> None:
    op.create_index(name, "records", list(columns), sqlite_where=where, postgresql_where=where)
