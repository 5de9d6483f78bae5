"""The ways in which a message to a remote server can fail, by whether the server may have acted on it."""

from mcpguard.upstreams.exchange.transport import TransportEnded


class Unsent(TransportEnded):
    """Nothing of this message has left the guard, so it cannot have been executed. The conversation goes on."""


class Unsayable(Unsent):
    """The message cannot be encoded, because it holds half a character (a lone surrogate)."""


class NoUsableAnswer(TransportEnded):
    """The message gets no usable answer, and whether it was executed is unknown. The conversation goes on."""


class TooLarge(NoUsableAnswer):
    """The answer exceeds the size limit, and was not read to its end."""


class SessionLost(TransportEnded):
    """The server has dropped the session, and with it every request in it. A new session has to be started."""
