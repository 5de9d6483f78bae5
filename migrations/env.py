"""Alembic's entry. The guard hands in its own connection, in its own transaction (mcpguard/store/engine/schema.py)."""

from alembic import context

from mcpguard.store.rows.tables import TABLES

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=TABLES,
    transactional_ddl=False,  # the transaction is the caller's
)
context.run_migrations()
