"""What a process must be told before it serves."""

import ctypes
import gc
import sys
from typing import Final

_FULL_AFTER: Final = 100
"""Collections of the middle generation; that is 700,000 new containers, where Python's own 10 are 70,000."""
_MMAP_THRESHOLD: Final = -3
"""As malloc.h of the GNU C library has it."""
_LARGE: Final = 256 * 1024


def steady() -> None:
    """Call it once everything is loaded.

    The collector stops the world for as long as it walks what will never be freed: tens of milliseconds for the
    libraries alone. What a server sends may be a million containers: while such a message is read the collector would
    walk all that has come so far, again and again, though nothing of JSON is ever garbage that only it could find. So
    it looks at everything ten times more seldom. And a thread that waits for its turn asks for it only after the switch
    interval; one iteration of a busy event loop is shorter than the usual 5 ms, so the writer would wait for seconds.
    """
    _give_back()
    gc.collect()
    gc.freeze()
    young, middle, _ = gc.get_threshold()
    gc.set_threshold(young, middle, _FULL_AFTER)
    sys.setswitchinterval(0.0005)


def _give_back() -> None:
    """Have large blocks, such as a body of megabytes, go back to the system as soon as they are not needed.

    Left alone, the C library learns from the first of them to keep the next ones. Where it is another one, it is left
    as it is.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_MMAP_THRESHOLD, _LARGE)
