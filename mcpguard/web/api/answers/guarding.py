"""Answers about the guard itself: its settings."""

from typing import Any

from mcpguard.web.api.answers.answer import ApiAnswer


class WaitingAnswer(ApiAnswer):
    """A setting that waits to be confirmed: the value in force, and the one that was found."""

    key: str
    in_force: Any
    found: Any


class ConfirmedAnswer(ApiAnswer):
    """The settings that were confirmed."""

    confirmed: list[str]


class RotatedAnswer(ApiAnswer):
    """The key that signs from now on, and the one that did before: base64 of 32 bytes each.

    `record`: the number of the record of it. `moved`: false where the file of the old key could not be replaced, and
    the new one lies beside it; the guard's own log says so then.
    """

    key: str
    previous: str
    record: int
    moved: bool
