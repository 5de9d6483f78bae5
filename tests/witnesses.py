"""What a failed test is told with: the log of each guard that it had, and the last records of its ledger.

A guard is watched from its start, and remembered until another test begins: it may have ended with the one that failed.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LINES = 60
RECORDS = 12


@dataclass
class Witness:
    """A guard that runs, or ran in this test."""

    log: Callable[[], Sequence[str]] | None
    """None where the guard runs in the process of the test: pytest has what that logs."""
    database: Any
    """A path or a URL."""
    over: bool = False


_watched: list[Witness] = []


@contextmanager
def watched(database: Any, log: Callable[[], Sequence[str]] | None = None) -> Iterator[None]:  # noqa: ANN401 - see above
    """For as long as this guard runs."""
    witness = Witness(log, database)
    _watched.append(witness)
    try:
        yield
    finally:
        witness.over = True


def forget() -> None:
    """Another test begins: the guards that run still are its own too."""
    _watched[:] = [witness for witness in _watched if not witness.over]


def sections() -> Iterator[tuple[str, str]]:
    """A title and a text for each log and each ledger."""
    for witness in _watched:
        if witness.log is not None:
            lines = witness.log()
            yield f"The guard's log (the last {LINES} of {len(lines)} lines)", "\n".join(lines[-LINES:])
        yield f"The ledger's last records ({witness.database})", _records(witness.database)


def _records(database: Any) -> str:  # noqa: ANN401 - a path or a URL
    if isinstance(database, Path) and not database.exists():
        return "there is no database"
    from tests.world import said  # noqa: PLC0415 - imports the whole program, and most tests do not fail

    try:
        return "\n".join(json.dumps(record, ensure_ascii=False) for record in said(database)[-RECORDS:])
    except Exception as error:  # noqa: BLE001 - the test has failed already, and of that is to be told
        return f"cannot be read: {error!r}"
