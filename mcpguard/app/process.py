"""What a process must be told before it serves."""

import gc
import sys
from typing import Final

_FULL_AFTER: Final = 100
"""Collections of the middle generation; that is 700,000 new containers, where Python's own 10 are 70,000."""


def steady() -> None:
    """Call it once everything is loaded.

    The collector stops the world for as long as it walks what will never be freed: tens of milliseconds for the
    libraries alone. What a server sends may be a million containers: while such a message is read the collector would
    walk all that has come so far, again and again, though nothing of JSON is ever garbage that only it could find. So
    it looks at everything ten times more seldom. And a thread that waits for its turn asks for it only after the switch
    interval; one iteration of a busy event loop is shorter than the usual 5 ms, so the writer would wait for seconds.
    """
    gc.collect()
    gc.freeze()
    young, middle, _ = gc.get_threshold()
    gc.set_threshold(young, middle, _FULL_AFTER)
    sys.setswitchinterval(0.0005)
