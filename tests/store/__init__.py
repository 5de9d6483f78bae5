"""The store, the same tests on SQLite and on a real PostgreSQL server."""
