"""What a process must be told before it serves."""

import gc
import sys


def steady() -> None:
    """Call it once everything is loaded.

    The collector stops the world for as long as it walks what will never be freed: tens of milliseconds for the
    libraries alone. And a thread that waits for its turn asks for it only after the switch interval; one iteration
    of a busy event loop is shorter than the usual 5 ms, so the writer would wait for seconds.
    """
    gc.collect()
    gc.freeze()
    sys.setswitchinterval(0.0005)
