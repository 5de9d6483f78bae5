"""An incremental parser of server-sent events.

Rules kept here:
1. The events do not depend on how the bytes are split, and the work is linear in the bytes, even one byte at a time.
2. An event over the limit ends the stream before it is stored completely; the events before it are still delivered. The
   bytes between two events may exceed that limit by 128 KiB.
3. The data of an event stays bytes, to be parsed as strict JSON later. All three line endings are accepted, a leading
   byte order mark and comments are skipped, and a block without data is not an event.

The parser has no stream and no clock: bytes go in, events come out.
"""

from collections.abc import Iterator
from dataclasses import dataclass

_BOM = b"\xef\xbb\xbf"
_LONGEST_FIELD = len(b"event: ")
_LONGEST_NAME = 1024
_DIGITS = 9
_PASSED_OVER = 131_072


class EventTooLarge(ValueError):
    """The stream cannot be parsed any further."""


@dataclass(frozen=True, slots=True)
class Event:
    """One event. `id` is the last one that the stream has named so far, possibly by an earlier event."""

    data: bytes
    type: str = "message"
    id: str = ""


class EventParser:
    """Turns bytes into events. `last_id` and `retry` (milliseconds) are those that the stream has sent last."""

    def __init__(self, limit: int, last_id: str = "") -> None:
        self.last_id = last_id
        self.retry: int | None = None
        self._limit = limit
        self._buffer = bytearray()
        self._searched = 0
        self._begun = False
        self._after_return = False
        self._data = bytearray()
        self._passed_over = 0
        self._type = ""
        self._next_id = last_id

    def feed(self, data: bytes) -> Iterator[Event]:
        """Yield the events that `data` completes. Raises EventTooLarge once the limit is exceeded."""
        self._buffer += self._with_one_line_end(data)
        if not self._begun and not self._begin():
            return
        while (line := self._line()) is not None:
            if line != b"data" and not line.startswith(b"data:"):
                # Comments and empty fields cost the server nothing: without a limit they could keep the guard reading
                # for ever.
                self._pass_over(len(line) + 1)
            if line:
                self._field(line)
            elif (event := self._complete()) is not None:
                yield event

    def _with_one_line_end(self, data: bytes) -> bytes:
        """Return `data` with a newline for every line end; a return and newline that were cut apart count once."""
        if not data:
            return data
        if self._after_return and data.startswith(b"\n"):
            data = data[1:]
            if not data:
                self._after_return = False
                return data
        self._after_return = data.endswith(b"\r")
        return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")

    def _pass_over(self, length: int) -> None:
        self._passed_over += length
        if self._passed_over > self._limit + _PASSED_OVER:
            raise EventTooLarge("too many bytes between two events")

    def _begin(self) -> bool:
        if len(self._buffer) < len(_BOM) and _BOM.startswith(self._buffer):
            return False
        if self._buffer.startswith(_BOM):
            del self._buffer[: len(_BOM)]
        self._begun = True
        return True

    def _line(self) -> bytes | None:
        end = self._buffer.find(b"\n", self._searched)
        length = end if end >= 0 else len(self._buffer)
        if length > self._limit + _LONGEST_FIELD:
            raise EventTooLarge(f"an event is longer than {self._limit} bytes")
        if end < 0:
            # Where the search ended: starting over with every byte would make the work quadratic.
            self._searched = length
            return None
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        self._searched = 0
        return line

    def _field(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        match name:
            case b"data":
                if len(self._data) + len(value) > self._limit:
                    raise EventTooLarge(f"an event is longer than {self._limit} bytes")
                self._data += value
                self._data += b"\n"
            case b"event":
                self._type = value[:_LONGEST_NAME].decode(errors="replace")
            # The id is sent back in a header later, so a long one, or one with a null byte, is ignored.
            case b"id" if b"\0" not in value and len(value) <= _LONGEST_NAME:
                self._next_id = value.decode(errors="replace")
            case b"retry" if value.isdigit():
                self.retry = int(value) if len(value) <= _DIGITS else 10**_DIGITS

    def _complete(self) -> Event | None:
        self.last_id = self._next_id
        data, type_ = self._data, self._type
        self._type = ""
        if not data:
            return None
        self._data = bytearray()
        self._passed_over = 0
        return Event(bytes(data[:-1]), type_ or "message", self.last_id)
