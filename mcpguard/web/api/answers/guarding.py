"""Answers about the guard itself: its settings."""

from typing import Any

from mcpguard.web.api.answers.answer import Answer


class Waiting(Answer):
    """A setting that waits to be confirmed: the value in force, and the one that was found."""

    key: str
    in_force: Any
    found: Any


class Confirmed(Answer):
    """The settings that were confirmed."""

    confirmed: list[str]
