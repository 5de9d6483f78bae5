"""The interface of a stream transport, and the errors that report the end of a connection."""

from collections.abc import Callable
from typing import Final, Protocol

from mcpguard.domain.errors import GuardError, NotStarted


class TransportEnded(GuardError):
    """The connection to the server is over. The message says why, for the operator."""


SAID_LAST: Final = "; last output: "
"""Separates the sentence about a server's end from its last line of standard error."""


class NeverBegun(TransportEnded, NotStarted):
    """The process could not be started at all."""


class MessageTransport(Protocol):
    """Carries messages to and from one server. A message is the bytes of one JSON text, not parsed yet."""

    at_once: Callable[[bytes], bool] | None
    """Takes an answer where it is read, without waking whoever waits in `receive`; false for any other message.

    A transport need not use it."""

    def put(self, message: bytes) -> bool:
        """Send a message at once. Returns whether it was taken; if not, it has to be given to `send`.

        Raises TransportEnded.
        """
        ...

    async def send(self, message: bytes) -> None:
        """Send a message. Raises TransportEnded; a message that was sent in part may have been executed."""
        ...

    async def receive(self) -> bytes:
        """Return the next message. Raises TransportEnded at the end, and where the stream cannot be parsed further."""
        ...
