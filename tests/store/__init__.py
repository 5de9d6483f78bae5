"""The store, the same tests on SQLite and on real PostgreSQL. `NEWEST`: the schema that the scripts lead to."""

from mcpguard import assets

NEWEST = max(script.name[:4] for script in (assets.migrations() / "versions").glob("[0-9]*.py"))
