"""The ways in which a message to a remote server comes to nothing, told apart by what the server can have done."""

from mcpguard.upstreams.exchange.transport import TransportEnded


class Unsent(TransportEnded):
    """Nothing of this message has left us, so it cannot have been carried out. Others may go on."""


class Unsayable(Unsent):
    """It holds what no message can, such as half a character."""


class Unanswered(TransportEnded):
    """This message gets no answer that could be used; whether it was carried out is not known. Others go on."""


class TooLarge(Unanswered):
    """The answer was larger than what is taken from a server, and was not read to its end."""


class SessionLost(TransportEnded):
    """The server has forgotten the session, and with it all that was asked in it. A new one has to be begun."""
