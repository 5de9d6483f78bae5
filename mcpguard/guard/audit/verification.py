"""Verifies the integrity of the audit log on request, while the guard runs.

Rules kept here:
1. It checks what `mcpguard audit verify` checks for this data directory, and trusts what that trusts: the current
   signing key, and the anchor file if there is one.
2. One verification at a time, beside all other work: it reads on separate database connections, rests as long as it
   works, and ends with the guard. It starts no helper processes: they would take the cores from calls, and the guard
   kills every child that is not one of its servers.
3. A result is kept until the next verification ends. Results do not survive a restart.
"""

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import anyio
import structlog
from anyio import CapacityLimiter, to_thread

from mcpguard.domain.clock import Clock
from mcpguard.domain.errors import NotWhole, StoreUnavailable
from mcpguard.ledger import anchors
from mcpguard.ledger.checkpoints import Checkpoint
from mcpguard.ledger.ledger import Ledger
from mcpguard.ledger.verify.explain import sentences
from mcpguard.ledger.verify.report import KeySource, KeyTrust, LedgerProblem, Report
from mcpguard.ledger.verify.verify import verify
from mcpguard.store.engine.offline import Place, open_offline

HERE: Final = "the store"
"""The database in reports to people who need not know where it is."""
LONGEST_REST: Final = 0.5
UNFINISHED: Final = (
    "Verification did not finish: the database or the external anchor file cannot be read. The cause is in the log."
)
NO_ANCHORS: Final = "The external anchor file is missing, so no anchors were checked."
log = structlog.get_logger("mcpguard.guard")


@dataclass(slots=True)
class RunningVerification:
    """A verification that is running, of records up to about `upto`; `at`: the record that it has come to."""

    by: str
    began_at: int
    upto: int
    at: int = 0


@dataclass(frozen=True, slots=True)
class VerificationResult:
    """The result of a verification. `to`: the last record that was verified; `first`: the first bad record of the
    current chain; `said`: the report in sentences. Unless `finished`, nothing is known."""

    by: str
    began_at: int
    ended_at: int
    finished: bool
    whole: bool
    to: int = 0
    first: LedgerProblem | None = None
    said: tuple[str, ...] = ()


class _Ended(Exception):
    """The guard stops while a verification runs."""


class LogVerifier:
    """Verifies the audit log of this guard, one run at a time."""

    def __init__(self, where: Place, anchor_file: Path | None, ledger: Ledger, clock: Clock) -> None:
        self.now: RunningVerification | None = None
        self.last: VerificationResult | None = None
        self._where = where
        self._anchor_file = anchor_file
        self._ledger = ledger
        self._clock = clock
        self._asked = anyio.Event()
        self._one = CapacityLimiter(1)

    def begin(self, by: str) -> bool:
        """Begin a verification. Returns whether it was begun: not if one runs already."""
        if self.now is not None:
            return False
        end = self._ledger.chain.acknowledged
        self.now = RunningVerification(by, self._clock.now(), end.seq if end else 0)
        self._asked.set()
        return True

    async def run(self) -> None:
        """Carry out verifications that were begun, until cancelled."""
        while True:
            await self._asked.wait()
            self._asked = anyio.Event()
            if (underway := self.now) is not None:
                self.last = await self._verified(underway)
                self.now = None

    async def _verified(self, underway: RunningVerification) -> VerificationResult:
        stopping = threading.Event()
        trust = KeyTrust(frozenset({self._ledger.chain.public_key}), KeySource.BESIDE)
        rest = _rested(underway, stopping, self._clock.monotonic)

        def work() -> Report:
            with open_offline(self._where, stopping.is_set) as connect:
                return verify(connect, HERE, self._anchors(), trust, rest)

        began = underway.by, underway.began_at
        try:
            report = await to_thread.run_sync(work, limiter=self._one, abandon_on_cancel=True)
        except NotWhole as error:
            log.error("ledger.not_whole", why=str(error))
            return VerificationResult(*began, self._clock.now(), True, False, said=(f"{error}.",))
        except (StoreUnavailable, OSError) as error:
            log.error("ledger.not_verified", why=str(error))
            return VerificationResult(*began, self._clock.now(), False, False, said=(UNFINISHED,))
        except Exception:  # whatever lies in the store, calls go on
            log.exception("ledger.not_verified")
            return VerificationResult(*began, self._clock.now(), False, False, said=(UNFINISHED,))
        finally:
            stopping.set()
        return self._told(report, *began)

    def _told(self, report: Report, by: str, began_at: int) -> VerificationResult:
        ours = [each for each in report.chains if each.chain == self._ledger.chain.id]
        first = next((each.first for each in ours if each.first), None)
        to = max((each.last_seq for each in ours), default=0)
        said = [each.strip() for each in sentences(report)]
        if self._anchor_file is not None and not self._anchor_file.exists():
            said.insert(-1, NO_ANCHORS)
        if report.whole:
            log.info("ledger.verified", to=to, by=by)
        else:
            log.error("ledger.not_whole", first=first.seq if first else None, why=first.sentence if first else "")
        return VerificationResult(by, began_at, self._clock.now(), True, report.whole, to, first, tuple(said))

    def _anchors(self) -> Iterator[Checkpoint]:
        if self._anchor_file is not None and self._anchor_file.exists():
            yield from (each.statement for each in anchors.read(self._anchor_file))


def _rested(
    underway: RunningVerification, stopping: threading.Event, monotonic: Callable[[], float]
) -> Callable[[int], None]:
    """Return a callback that notes how far a verification has come, and rests for as long as it took: calls go
    first."""
    before = monotonic()

    def told(seq: int) -> None:
        nonlocal before
        underway.at = seq
        if stopping.wait(min(monotonic() - before, LONGEST_REST)):
            raise _Ended
        before = monotonic()

    return told
