"""Requests that callers attach to the declaration of a server.

They have no effect; a reviewer reads them.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ServerRequest:
    """One request. `about`: `isolation`, the confinement that the caller wishes for the server, or `oauth`, how to sign
    in to it. `said`: the requested JSON in ASCII, so that nothing in it is hidden. `by` and `label`: the caller who
    made the request last, and `at`: when, in microseconds of UTC.
    """

    about: str
    said: str
    by: str
    label: str
    at: int
