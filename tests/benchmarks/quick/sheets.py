"""What `quick` measures: calls in front of a server of the SDK, and the ledger, both in short turns."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.benchmarks.gateway import sdk_table
from tests.benchmarks.quick import ledger_turns
from tests.benchmarks.quick.figures import Figure, of_calls, of_records
from tests.benchmarks.report import Sheet

ROUNDS_OF_CALLS: Final = 9
SECONDS_OF_CALLS: Final = 58.0
ROUNDS_OF_RECORDS: Final = 10


@dataclass(frozen=True, slots=True)
class Measured:
    """Tables for a person, and the figures of them that can be compared."""

    sheets: Sequence[Sheet]
    figures: Sequence[Figure]


def measure(folder: Path, runs: int, say: Callable[[str], None], show: Callable[[Sheet], None]) -> Measured:
    """Measure everything, and show each table as soon as it is there. `runs`: so many times as many rounds."""
    of_gateway = sdk_table.sheets(folder, runs * ROUNDS_OF_CALLS, say, within=runs * SECONDS_OF_CALLS)
    calls = dict(zip(sdk_table.CALLERS, _shown(of_gateway, show), strict=True))
    records = [*_shown(ledger_turns.sheets(folder, runs * ROUNDS_OF_RECORDS), show)]
    return Measured([*calls.values(), *records], [*of_calls(calls), *of_records(records)])


def _shown(sheets: Iterator[Sheet], show: Callable[[Sheet], None]) -> Iterator[Sheet]:
    for sheet in sheets:
        show(sheet)
        yield sheet
