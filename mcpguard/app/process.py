"""Tunes the Python process before it serves."""

import ctypes
import gc
import sys
from typing import Final

_FULL_AFTER: Final = 100
"""Collections of the middle generation; that is 700,000 new containers, where Python's own 10 are 70,000."""
_MMAP_THRESHOLD: Final = -3
"""M_MMAP_THRESHOLD, as in malloc.h of the GNU C library."""
_LARGE: Final = 256 * 1024


def steady() -> None:
    """Tune the garbage collector and thread switching. To be called once everything is loaded.

    The collector stops everything while it walks objects that are never freed: tens of milliseconds for the libraries
    alone. A server's message may have a million containers: while it is parsed the collector would walk all of them
    again and again, although JSON never has reference cycles. So full collections are ten times rarer. And a waiting
    thread asks for its turn only after the switch interval; one iteration of a busy event loop is shorter than the
    usual 5 ms, so the writer would wait for seconds.
    """
    _give_back()
    gc.collect()
    gc.freeze()
    young, middle, _ = gc.get_threshold()
    gc.set_threshold(young, middle, _FULL_AFTER)
    sys.setswitchinterval(0.0005)


def _give_back() -> None:
    """Have large blocks, such as a body of megabytes, returned to the system as soon as they are free.

    By default the GNU C library learns from the first of them to keep the next ones. Others are left as they are.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_MMAP_THRESHOLD, _LARGE)
