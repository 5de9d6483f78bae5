"""Runs a program to its end and returns its output.

Rules kept here:
1. Its time and its output are limited, watches can end it, and it is always terminated, in the same way as a server.
2. Only the end of its output is kept.
"""

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import anyio

from mcpguard.text.visible import visible
from mcpguard.upstreams.exchange.transport import TransportEnded
from mcpguard.upstreams.packages.not_installed import NotInstalled
from mcpguard.upstreams.process.child import Child, PipeClosed
from mcpguard.upstreams.process.fair_reading import Share
from mcpguard.upstreams.process.process_end import StdioPatience, end_process
from mcpguard.upstreams.process.stdio import ProcessLaunch, start_process

AT_ONCE = StdioPatience(0, 0)
CHUNK = 65_536
MOST_SAID = 4 * 1024 * 1024
KEPT = 8192
MOMENT = 0.5
LONGEST = 400
DRAWN = " ×╰─▶│·"  # noqa: RUF001 - uv draws with these
_OF_NPM = re.compile(r"npm error( (\d+|code|notarget)\b)?")
_ASIDE = (
    "npm warn",
    "A complete log",
    "Log files were not",
    "Note that you can also",
    "tarball, folder",
    "E4",
    "ETARGET",
)
Watch = Callable[[int], Awaitable[str]]
"""Watches a process, and returns once it has to end: the reason."""


@dataclass(frozen=True, slots=True)
class ProgramResult:
    """The exit code of a program, and the end of each of its output streams."""

    code: int
    output: str
    errors: str


async def run_program(launch: ProcessLaunch, what: str, seconds: float, watches: Sequence[Watch] = ()) -> ProgramResult:
    """Run a program, called `what` in messages. Raises NotInstalled where it does not end within its limits."""
    try:
        child = start_process(launch)
    except TransportEnded as error:
        raise NotInstalled(str(error)) from error
    try:
        running = _Running(child, what)
        with anyio.move_on_after(seconds) as time:
            await running.to_its_end(watches)
        if running.why or time.cancelled_caught:
            raise NotInstalled(running.why or f"{what} did not finish within {seconds:g} seconds")
    finally:
        # Whatever happened above: an installer that is left running could write into the tree after its digest.
        await end_process(child, AT_ONCE)
    assert child.code is not None  # noqa: S101 - it has ended
    return ProgramResult(child.code, *(bytes(kept).decode(errors="replace") for kept in running.said))


class _Running:
    """A running program, and the reason why it has to end."""

    def __init__(self, child: Child, what: str) -> None:
        self.said = (bytearray(), bytearray())
        self.why = ""
        self._child = child
        self._what = what
        self._heard = 0
        self._scope = anyio.CancelScope()

    async def to_its_end(self, watches: Sequence[Watch]) -> None:
        # A program that asks a question would wait for an answer until its time is over.
        self._child.close_input()
        with self._scope:
            async with anyio.create_task_group() as watching:
                for watch in watches:
                    watching.start_soon(self._watch, watch)
                async with anyio.create_task_group() as hearing:
                    hearing.start_soon(self._hear, self._child.output, self.said[0])
                    hearing.start_soon(self._hear, self._child.errors, self.said[1])
                    await self._child.wait()
                    # A process that it left behind may hold its output open for ever.
                    hearing.cancel_scope.deadline = anyio.current_time() + MOMENT
                watching.cancel_scope.cancel()

    async def _watch(self, watch: Watch) -> None:
        self._end(await watch(self._child.pid))

    async def _hear(self, pipe: int, kept: bytearray) -> None:
        share = Share()
        try:
            while True:
                data = await share.read(pipe, CHUNK)
                self._heard += len(data)
                kept += data
                del kept[:-KEPT]
                if self._heard > MOST_SAID:
                    self._end(f"{self._what} printed more than {MOST_SAID // 1024} KiB")
        except PipeClosed:
            return

    def _end(self, why: str) -> None:
        self.why = self.why or why
        self._scope.cancel()


def complaint(ran: ProgramResult) -> str:
    """Return a program's error output in one line, without the prefix that npm puts before each of its lines."""
    told = list(filter(None, (_OF_NPM.sub("", line.strip()).strip(DRAWN) for line in ran.errors.splitlines())))
    said = visible(" ".join(line for line in told if not line.startswith(_ASIDE)))
    return said[:LONGEST] or f"it exited with code {ran.code} and no error message"
