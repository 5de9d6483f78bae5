"""Answers about the guard itself: its settings."""

from typing import Any

from mcpguard.web.api.answers.answer import ApiAnswer


class WaitingAnswer(ApiAnswer):
    """A setting that needs confirmation: the value in force, and the requested one (`found`)."""

    key: str
    in_force: Any
    found: Any


class ConfirmedAnswer(ApiAnswer):
    """The settings that were confirmed."""

    confirmed: list[str]


class RotatedAnswer(ApiAnswer):
    """The new signing key and the previous one, each in base64 of 32 bytes.

    `record`: the number of the record of the rotation. `moved`: false if the file of the old key could not be replaced,
    and the new key is in a file next to it; the guard's own log says so then.
    """

    key: str
    previous: str
    record: int
    moved: bool
