"""A participant that counts: what it holds must equal what the database holds, whatever fails."""

from sqlalchemy import Connection, func, select

from mcpguard.store.rows import chains
from mcpguard.store.rows.tables import chains as chains_table


class Tally:
    """Counts chains, the smallest table, beside the transaction."""

    def __init__(self) -> None:
        self.counted: int | None = None
        self.sure = 0

    def add(self, connection: Connection, name: str) -> None:
        chains.begin(connection, name, 0)
        assert self.counted is not None
        self.counted += 1

    def begin(self, connection: Connection) -> None:
        if self.counted is None:
            self.counted = connection.scalar(select(func.count()).select_from(chains_table))

    def mark(self, _: Connection) -> object:
        return self.counted

    def return_to(self, mark: object) -> None:
        assert isinstance(mark, int)
        self.counted = mark

    def prepare(self, connection: Connection) -> None:
        """Nothing to write."""

    def confirm(self) -> None:
        assert self.counted is not None
        self.sure = self.counted

    def discard(self) -> None:
        self.counted = None
