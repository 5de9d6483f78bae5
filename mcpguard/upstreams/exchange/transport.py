"""What every way to reach a server looks like from above."""

from typing import Final, Protocol

from mcpguard.domain.errors import GuardError, NotStarted


class TransportEnded(GuardError):
    """There is nobody to speak to any more. Says why in a sentence for the operator."""


SAID_LAST: Final = "; it said last: "
"""Before the last words of a server, at the end of a sentence about its end."""


class NeverBegun(TransportEnded, NotStarted):
    """There never was anybody."""


class MessageTransport(Protocol):
    """Messages to and from one server. A message is the bytes of one JSON text; nobody has looked into it yet."""

    async def send(self, message: bytes) -> None:
        """Raises TransportEnded when it cannot be sent. What was sent in part may have been executed."""
        ...

    async def receive(self) -> bytes:
        """The next message. Raises TransportEnded at the end, and for a stream that cannot be understood further."""
        ...
