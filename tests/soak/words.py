"""What the servers of the soak offer and answer: the same words for whoever serves and for whoever checks.

Whatever a server says repeats the token of the request that it is said for, and names the server and the capability. So
an answer that came to the wrong request, or from the wrong server, is seen at once.
"""

from typing import Final

TOOLS: Final = ("say", "work", "tell", "much", "fail", "never", "turn", "ask", "touch")
MAY_ASK: Final = ("swift", "web", "elder-web")
"""Servers that may ask their clients. One on a stream of the handshake era would work on one call at a time."""
SOMETIMES: Final = "now-and-then"
"""A tool that comes and goes, so that lists change."""
UNSEEN: Final = "unseen"
"""A tool that is there while that one is not. It never was when a person looked, so no client may ever see it."""
PROMPT: Final = "greet"
TEMPLATE: Final = "soak://note/{token}"
MUCH: Final = 200_000


def mark(server: str, what: str, token: str) -> str:
    return f"{what} of {server} for {token}"


def much(server: str, token: str) -> str:
    """A large text in which every part says whose it is."""
    said = mark(server, "much", token) + "\n"
    return said * (MUCH // len(said))


def note(token: str) -> str:
    """The URI of a resource that the template covers."""
    return TEMPLATE.replace("{token}", token)
