"""Messages on a byte stream, in two forms: one message per line, or a header that gives the length in bytes.

Rules kept here:
1. The form is decided once, by the first byte that is not blank (`{` or `[`: lines; `c`: headers), and holds for the
   whole stream; anything else is refused. Replies are sent in the same form.
2. A message over the limit is refused before all of it is held: by its header, or as soon as a line is too long.
3. A header states its length once, in digits and nothing else. Malformed input is neither repaired nor skipped.

The decoder knows no stream and no clock: bytes go in, messages come out.
"""

import re
from collections.abc import Iterator
from enum import StrEnum

_BLANK = b" \t\r\n"
_HEAD_LIMIT = 1024
_HEAD_END = b"\r\n\r\n"
_LENGTH = re.compile(rb"content-length[ \t]*:[ \t]*([0-9]{1,15})[ \t]*", re.IGNORECASE)
_TYPE = re.compile(rb"content-type[ \t]*:[ \t\x21-\x7e]*", re.IGNORECASE)


class Framing(StrEnum):
    """The form of a stream: how one message is parted from the next."""

    LINES = "lines"
    HEADERS = "headers"


class FramingError(ValueError):
    """The stream cannot be read any further and has to be closed."""


class Decoder:
    """Takes bytes as they arrive, and yields each message once it is complete."""

    def __init__(self, limit: int, framing: Framing | None = None) -> None:
        self.framing = framing
        self.held = bytearray()
        """The beginning of a message that is not complete yet."""
        self._limit = limit
        self._searched = 0

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield the messages that `data` completes. Raises FramingError where the stream cannot be read."""
        held = self.held
        held += data
        if self.framing is None and not self._decide():
            return
        if self.framing is Framing.HEADERS:
            while (message := self._counted()) is not None:
                yield message
            return
        while (end := held.find(b"\n", self._searched)) >= 0:
            line = bytes(held[:end]).strip(_BLANK)
            del held[: end + 1]
            self._searched = 0
            if len(line) > self._limit:
                raise FramingError(f"a message is longer than {self._limit} bytes")
            if line:
                yield line
        self._searched = len(held)
        if self._searched > self._limit:
            raise FramingError(f"a message is longer than {self._limit} bytes")

    def _decide(self) -> bool:
        del self.held[: len(self.held) - len(self.held.lstrip(_BLANK))]
        if not self.held:
            return False
        if self.held[0] in b"{[":
            self.framing = Framing.LINES
        elif self.held[:1].lower() == b"c":
            self.framing = Framing.HEADERS
        else:
            raise FramingError("neither a JSON message nor a Content-Length header")
        return True

    def _counted(self) -> bytes | None:
        end = self.held.find(_HEAD_END, 0, _HEAD_LIMIT)
        if end < 0:
            if len(self.held) >= _HEAD_LIMIT:
                raise FramingError(f"a header is longer than {_HEAD_LIMIT} bytes")
            return None
        length = self._length(bytes(self.held[:end]))  # over the limit, it is refused before its bytes come
        begin = end + len(_HEAD_END)
        if len(self.held) < begin + length:
            return None
        message = bytes(self.held[begin : begin + length])
        del self.held[: begin + length]
        return message

    def _length(self, head: bytes) -> int:
        lengths = []
        for field in head.split(b"\r\n"):
            if match := _LENGTH.fullmatch(field):
                lengths.append(int(match[1]))
            elif not _TYPE.fullmatch(field):
                raise FramingError("a header has fields other than Content-Length and Content-Type")
        if len(lengths) != 1:
            raise FramingError("a header must have exactly one Content-Length")
        if lengths[0] > self._limit:
            raise FramingError(f"a message is longer than {self._limit} bytes")
        return lengths[0]


def encode(message: bytes, framing: Framing) -> bytes:
    """Return a message ready to be sent. JSON as we write it contains no line break."""
    if framing is Framing.HEADERS:
        return b"Content-Length: %d\r\n\r\n%b" % (len(message), message)
    return message + b"\n"
