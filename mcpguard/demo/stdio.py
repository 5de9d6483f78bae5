"""Serving on the standard streams: one message, one line.

A loop of our own, not the SDK's: importing that takes half a second and 50 MB for each server, this a twentieth of a
second and none. Nothing here waits for anything but the client, so one message after another is enough.
"""

import json
import signal
import sys

from mcpguard.demo.dialogue import Dialogue
from mcpguard.demo.offer import Json, Offer


def serve(offer: Offer) -> None:
    """Answer until the client ends the conversation."""
    for number in (signal.SIGINT, signal.SIGPIPE):
        signal.signal(number, signal.SIG_DFL)  # whoever started us wants us gone: go, without a traceback
    dialogue = Dialogue(offer, _say)
    for line in sys.stdin.buffer:
        if not line.isspace():
            dialogue.take(line)


def _say(message: Json) -> None:
    sys.stdout.buffer.write(json.dumps(message, separators=(",", ":")).encode() + b"\n")
    sys.stdout.buffer.flush()
