"""Reads an event stream that may break and be resumed.

Rules kept here:
1. The last event id and the retry time of a stream are kept from one connection to the next.
2. There is a pause before every new connection: as long as the server requested, within limits, and longer each time if
   no events arrive.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from mcpguard.codec.messages import Failure, Result
from mcpguard.upstreams.exchange.endings import NoUsableAnswer, TooLarge
from mcpguard.upstreams.transports.events import Event, EventParser, EventTooLarge
from mcpguard.upstreams.transports.http_replies import Reply

Answer = Result | Failure


@dataclass(frozen=True, slots=True)
class Waits:
    """How long to wait for what, in seconds."""

    told: float = 5.0
    """For a server to accept a notification, or an answer to its request."""
    taken_back: float = 1.0
    """For it to accept a cancellation."""
    closing: float = 2.0
    """For it to end the session."""
    drained: float = 1.0
    """For it to end a stream whose answer has come."""
    endpoint: float = 10.0
    """For it to name the endpoint for messages."""
    reopened: float = 1.0
    """Before a stream is opened again for the first time."""
    reopened_least: float = 0.1
    reopened_most: float = 30.0
    """Before it is opened again after many attempts in vain."""
    asked_most: float = 300.0
    """The longest retry time that a server may ask for."""


class ResumableStream:
    """A stream of events over all its connections."""

    def __init__(self, limit: int, waits: Waits) -> None:
        self.last_id = ""
        self._limit = limit
        self._waits = waits
        self._retry: int | None = None
        self._in_vain = 0

    async def hear(self, reply: Reply, take: Callable[[Event], Awaitable[Answer | None]]) -> Answer | None:
        """Return the answer once `take` finds it in an event; None if the connection ends before that.

        Raises TooLarge for an event over the limit; such a stream is not resumed.
        """
        parser = EventParser(self._limit, self.last_id)
        try:
            while piece := await reply.piece():
                self._in_vain = 0
                for event in parser.feed(piece):
                    if (answer := await take(event)) is not None:
                        return answer
                    await reply.give_way()
        except EventTooLarge as error:
            raise TooLarge(f"the server's answer is longer than {self._limit} bytes") from error
        except NoUsableAnswer:
            return None
        finally:
            # Also after an error: the events before it were handled, and must not be sent again.
            self.last_id = parser.last_id
            self._retry = parser.retry if parser.retry is not None else self._retry
        return None

    def forget(self) -> None:
        """Do not resume next time, but begin anew."""
        self.last_id = ""

    def pause(self) -> float:
        """Return the seconds until the next connection."""
        waits = self._waits
        asked = waits.reopened if self._retry is None else self._retry / 1000
        least = min(max(asked, waits.reopened_least), waits.asked_most)
        longer = min(least * 2.0 ** min(self._in_vain, 16), waits.reopened_most)
        self._in_vain += 1
        return max(least, longer)
