"""A stream of events that may be broken off and taken up again.

Rules kept here:
1. What a stream said of itself (its last event, how long to wait) is kept from one connection to the next.
2. There is a pause before every new connection: as long as the server asked for, within bounds, and longer each time
   when nothing comes of it.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from mcpguard.codec.messages import Failure, Result
from mcpguard.upstreams.exchange.endings import TooLarge, Unanswered
from mcpguard.upstreams.transports.events import Event, EventParser, EventTooLarge
from mcpguard.upstreams.transports.http_replies import Reply

Answer = Result | Failure


@dataclass(frozen=True, slots=True)
class Waits:
    """How long is waited, in seconds."""

    told: float = 5.0
    """For a server to take a notification or an answer of ours."""
    taken_back: float = 1.0
    """For it to take that a request is taken back."""
    closing: float = 2.0
    """For it to end the session."""
    drained: float = 1.0
    """For it to end a stream whose answer has come."""
    endpoint: float = 10.0
    """For it to say where messages are sent to."""
    reopened: float = 1.0
    """Before a stream is opened again for the first time."""
    reopened_least: float = 0.1
    reopened_most: float = 30.0
    """Before it is opened again when nothing came of it many times."""
    asked_most: float = 300.0
    """As long as a server may ask for at most."""


class Following:
    """One stream over all its connections."""

    def __init__(self, limit: int, waits: Waits) -> None:
        self.last_id = ""
        self._limit = limit
        self._waits = waits
        self._retry: int | None = None
        self._in_vain = 0

    async def hear(self, reply: Reply, take: Callable[[Event], Awaitable[Answer | None]]) -> Answer | None:
        """The answer, as soon as `take` finds one in an event; None when the connection has ended without.

        Raises TooLarge for an event that is; it is not asked for again.
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
        except Unanswered:
            return None
        finally:
            self.last_id = parser.last_id
            self._retry = parser.retry if parser.retry is not None else self._retry
        return None

    def forget(self) -> None:
        """Begin anew next time."""
        self.last_id = ""

    def pause(self) -> float:
        """Seconds until the next connection."""
        waits = self._waits
        asked = waits.reopened if self._retry is None else self._retry / 1000
        least = min(max(asked, waits.reopened_least), waits.asked_most)
        longer = min(least * 2.0 ** min(self._in_vain, 16), waits.reopened_most)
        self._in_vain += 1
        return max(least, longer)
