"""Alembic's entry. The guard hands in its own connection, in its own transaction (mcpguard/store/engine/schema.py)."""

from alembic import context
from sqlmodel import SQLModel

from mcpguard.store.rows import tables  # noqa: F401 - declares the tables

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=SQLModel.metadata,
    transactional_ddl=False,  # the transaction is the caller's
)
context.run_migrations()
