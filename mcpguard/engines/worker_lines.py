"""Reads the lines that a worker writes. All of them are hostile: a program may have got the better of its engine.

Rules kept here:
1. A line is strict JSON of bounded size, depth and number of values, and an object.
2. A large line is read in a thread, so that it holds up nobody else.
"""

from typing import Any, Final

from anyio import CapacityLimiter, to_thread

from mcpguard.codec.strict import StrictError, parse
from mcpguard.engines.code_run import MIB, FailureCode, RunFailed
from mcpguard.text.visible import visible
from mcpguard.upstreams.process.stdio import Stdio

LONGEST_MESSAGE: Final = 8 * MIB
"""Bytes of one message of a worker: all calls that are made together, or a value."""
DEEPEST: Final = 64 + 4
"""Levels of a value, and of the message around it."""
MOST_VALUES: Final = 300_000
ODD: Final = "the engine wrote what is no message of its own"
_LARGE: Final = 128 * 1024
"""Bytes. Starting a thread would cost more than it takes to parse a smaller line."""


async def receive_line(process: Stdio) -> tuple[dict[str, Any], int]:
    """Return the next message of a worker, and its length. Raises TransportEnded, and RunFailed."""
    line = await process.receive()
    if len(line) <= _LARGE:
        return _read(line), len(line)
    said = await to_thread.run_sync(_read, line, abandon_on_cancel=True, limiter=CapacityLimiter(1))
    return said, len(line)


def _read(line: bytes) -> dict[str, Any]:
    try:
        said = parse(line, max_bytes=LONGEST_MESSAGE, max_depth=DEEPEST, max_values=MOST_VALUES)
    except StrictError as error:
        message = f"what the program hands out is no plain JSON: {visible(error.message)}"
        raise RunFailed(FailureCode.SERIALIZATION_ERROR, message) from None
    if not isinstance(said, dict):
        raise RunFailed(FailureCode.RUNTIME_ERROR, ODD)
    return said
