"""Checks the segments of a long chain in processes beside this one, which joins what they return.

Rules kept here:
1. A helper only reads. It says of a segment that it is plain, or not; it never says that a chain is whole.
2. Results come in the order of the chain, each exactly once. A helper that ends before it has answered ends the
   verification with HelperLost: nothing is known then.
3. Only so many segments are under way at once, so memory does not grow with the chain.
4. No helper outlives its parent: it ends with the connection to it. An interrupt from the terminal goes to the parent
   alone, which ends its helpers.
"""

import os
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import cycle
from multiprocessing import connection as pipes
from typing import Final

from mcpguard.domain.errors import NotWhole, StoreUnavailable
from mcpguard.ledger.verify.plain_segment import PlainSegment, read_plain
from mcpguard.store.engine.backend import Connection
from mcpguard.store.engine.offline import Place, open_offline
from mcpguard.store.rows.segments import Segment, decode_quickly

AHEAD: Final = 4
"""Segments that each helper may have before it."""
MOST: Final = 8
"""Helpers of one verification. The parent keeps up with about so many."""
PATIENCE: Final = 5.0
"""Seconds in which a process that has closed its connection ends."""
Result = tuple[Segment, PlainSegment | None]


class HelperLost(StoreUnavailable):
    """A helper ended before it had answered."""


@dataclass(frozen=True, slots=True)
class WorkShare:
    """How a verification is shared: among so many `processes` that open `store`, where a chain has at least `least`
    records; without a store, or with fewer than two processes, in this one. `size`: records of a segment."""

    store: Place | None = None
    processes: int = 0
    least: int = 50_000
    size: int = 2_000

    def among(self, records: int) -> int:
        """Return how many helpers a chain of so many records is worth."""
        return self.processes if self.store is not None and self.processes > 1 and records >= self.least else 0


ALONE: Final = WorkShare()


def on_all_cores(store: Place) -> WorkShare:
    """Return the share of a command that has nothing else to do."""
    return WorkShare(store, min(available_cores(), MOST))


def available_cores() -> int:
    """Return on how many cores this process may run."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


Check = Callable[[Iterable[Segment]], Iterator[Result]]


@contextmanager
def checking(connect: Callable[[], Connection], share: WorkShare, records: int) -> Iterator[Check]:
    """Yield a function that checks segments by themselves, in order: with helpers if a chain of so many records is
    worth it, else in this process."""
    helpers = _started(share, share.among(records))
    try:
        if helpers:
            yield lambda segments: _shared(helpers, segments)
            return
        with connect() as connection:
            decode_quickly(connection)
            yield lambda segments: ((segment, read_plain(connection, segment)) for segment in segments)
    finally:
        for helper in helpers:
            helper.end()


def _started(share: WorkShare, count: int) -> list["_Helper"]:
    helpers: list[_Helper] = []
    try:
        while len(helpers) < count and share.store is not None:
            helpers.append(_Helper(share.store))
    except OSError:
        pass  # no more processes are allowed: those that there are do it, or this one
    return helpers


def _shared(helpers: list["_Helper"], segments: Iterable[Segment]) -> Iterator[Result]:
    waiting: deque[tuple[Segment, _Helper]] = deque()
    for segment, helper in zip(segments, cycle(helpers), strict=False):
        helper.ask(segment)
        waiting.append((segment, helper))
        if len(waiting) == AHEAD * len(helpers):
            asked, first = waiting.popleft()
            yield asked, first.answer()
    for asked, helper in waiting:
        yield asked, helper.answer()


class _Helper:
    """A process that checks the segments it is asked for, one after the other."""

    def __init__(self, store: Place) -> None:
        self._pipe, theirs = pipes.Pipe()
        with closing(theirs):
            # The path is handed over, so that it runs the code that runs here, wherever this was started.
            code = f"import sys; sys.path[:] = {sys.path!r}; from {__name__} import serve; serve(int(sys.argv[1]))"
            try:
                self._process = subprocess.Popen(  # noqa: S603 - our own Python, and words of ours
                    [sys.executable, "-c", code, str(theirs.fileno())],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    pass_fds=[theirs.fileno()],
                    process_group=0,
                )
            except OSError:
                self._pipe.close()
                raise
        self._send(store)  # not among the arguments: a URL may have a password, and everybody can read those

    @property
    def process_id(self) -> int:
        return self._process.pid

    def ask(self, segment: Segment) -> None:
        self._send(segment)

    def answer(self) -> PlainSegment | None:
        """Return the answer to the oldest question that has none yet."""
        try:
            said = self._pipe.recv()
        except (EOFError, OSError) as error:
            raise self._lost() from error
        if isinstance(said, (StoreUnavailable, NotWhole)):
            raise said
        assert said is None or isinstance(said, PlainSegment)  # noqa: S101 - `serve` sends nothing else
        return said

    def end(self) -> None:
        self._pipe.close()
        self._process.kill()  # it only reads, so nothing is lost
        self._process.wait()

    def _send(self, what: object) -> None:
        try:
            self._pipe.send(what)
        except OSError as error:
            raise self._lost() from error

    def _lost(self) -> HelperLost:
        try:
            code = self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            how = "stopped answering"
        else:
            how = f"was killed ({signal.Signals(-code).name})" if code < 0 else f"failed (exit code {code})"
        return HelperLost(
            f"the audit log was not verified: process {self._process.pid}, which verified a part of it, {how}. "
            "Is there too little memory? Verify again"
        )


def serve(descriptor: int) -> None:
    """Answer the questions of the parent until it ends the connection."""
    with pipes.Connection(descriptor) as pipe:
        try:
            try:
                with open_offline(pipe.recv()) as connect, connect() as connection:
                    decode_quickly(connection)
                    while True:
                        pipe.send(read_plain(connection, pipe.recv()))
            except (StoreUnavailable, NotWhole) as error:
                pipe.send(error)
        except (EOFError, BrokenPipeError, ConnectionResetError):
            return  # the parent has ended, or needs no more
