"""What a server's error says, in words of ours.

Nothing that a server wrote is repeated: it may hold what it was given in confidence.
"""

from collections.abc import Iterator

from mcpguard.upstreams.conversation import INTERNAL_ERROR, ServerError
from mcpguard.upstreams.transports.transport import SAID_LAST


def status(error: ServerError) -> int | None:
    """The HTTP status, where the server answered with one and with no error of the protocol."""
    match error.error:
        case {"code": code, "data": {"status": int(number)}} if code == INTERNAL_ERROR:
            return number
        case _:
            return None


def sentence(error: BaseException) -> str:
    """What went wrong."""
    if isinstance(error, ServerError):
        number = status(error)
        if number is not None:
            return f"the server answered with HTTP status {number}"
    return str(error)


def of_ours(said: str) -> str:
    """A sentence without the last words of a server that may end it: for what is kept and cannot be taken back."""
    return said.partition(SAID_LAST)[0]


def leaves(error: BaseException) -> Iterator[BaseException]:
    """What went wrong, in the order in which it did; what followed from the first says less."""
    if isinstance(error, BaseExceptionGroup):
        for each in error.exceptions:
            yield from leaves(each)
    else:
        yield error
