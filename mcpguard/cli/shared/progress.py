"""Shows a user at a terminal that a command is working, if it takes longer than a moment.

If standard error is not a terminal, nothing is written, so that piped output stays the same.
"""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import typer

from mcpguard.text.visible import visible

MOMENT: Final = 2.0
"""Seconds after which somebody begins to wonder."""
EVERY: Final = 0.5
TELLER: Final = "what is waited for"
_WIPED: Final = "\r\x1b[K"


@contextmanager
def show_waiting(what: Callable[[], str]) -> Iterator[None]:
    """While the block runs, show what it waits for, and for how long. `what` is called in another thread."""
    if not sys.stderr.isatty():
        yield
        return
    ended, began = threading.Event(), time.monotonic()

    def tell() -> None:
        pause = MOMENT
        while not ended.wait(pause):
            pause = EVERY
            said = f"{_WIPED}{visible(what())} … {time.monotonic() - began:.0f} s"
            if not ended.is_set():
                typer.echo(said, nl=False, err=True)

    teller = threading.Thread(target=tell, name=TELLER, daemon=True)
    teller.start()
    try:
        yield
    finally:
        ended.set()
        teller.join()
        if time.monotonic() - began >= MOMENT:
            typer.echo(_WIPED, nl=False, err=True)
