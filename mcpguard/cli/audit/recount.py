"""`mcpguard audit recount`: counts the calls of the audit log anew, while no guard runs."""

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mcpguard.app import places
from mcpguard.cli.shared.common import (
    As,
    Config,
    DataDir,
    Output,
    load_settings,
    print_answer,
    report_errors,
    show_progress,
)
from mcpguard.domain.errors import StoreUnavailable
from mcpguard.guard.audit.call_counter import count_anew
from mcpguard.store.engine.backend import Connection
from mcpguard.store.engine.single_write import write_alone
from mcpguard.store.files import datadir
from mcpguard.store.rows import chains

if TYPE_CHECKING:
    from mcpguard.settings.model import Settings

NOTHING: Final = "nothing has been recorded yet"
RUNNING: Final = "A running guard counts by itself; to have everything counted anew, stop it and try again"


def recount(config: Config = None, data_dir: DataDir = None, output: As = Output.TABLE) -> None:
    """Count the calls of the audit log anew, if the numbers of calls in the console seem wrong. Stop the guard first.

    The log stays as it is. Numbers of calls whose records were pruned stay, too.
    """
    settings = load_settings(config, data_dir=data_dir).settings
    with report_errors(), _unused(settings), show_progress() as told:

        def work(connection: Connection) -> int:
            chain = chains.newest(connection)
            if chain is None:
                raise StoreUnavailable(NOTHING)
            return count_anew(connection, chain, time.time_ns() // 1000, told)

        records = write_alone(places.backend(settings), work)
    print_answer(output, {"records": records}, f"the calls of {records:,} records were counted anew")


@contextmanager
def _unused(settings: "Settings") -> Iterator[None]:
    """Lock the data directory. Raises StoreUnavailable where a guard uses it, or nothing is in it."""
    where = places.database(settings)
    if isinstance(where, Path) and not where.is_file():
        raise StoreUnavailable(NOTHING)
    with ExitStack() as held:
        try:
            held.enter_context(datadir.lock_folder(settings.data_dir, "audit recount"))
        except StoreUnavailable as error:
            raise StoreUnavailable(f"{error}. {RUNNING}") from None
        yield
