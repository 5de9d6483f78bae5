"""What a caller asks of people beside how it declares a server. Nothing of it is in force, whatever it says."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ServerRequest:
    """One such thing. `about`: `isolation`, how the server should be confined, or `oauth`, how it should be signed in
    to. `said`: the JSON that was asked for, in ASCII, so that nothing in it is hidden. `by` and `label`: the caller who
    asked last, and `at`: when, in microseconds of UTC.
    """

    about: str
    said: str
    by: str
    label: str
    at: int
