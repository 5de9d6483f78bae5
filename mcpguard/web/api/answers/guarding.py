"""Answers about the guard itself: its settings and its audit log."""

from typing import Annotated, Any

from pydantic import Field

from mcpguard.web.api.answers.answer import Answer


class Waiting(Answer):
    """A setting that waits to be confirmed: the value in force, and the one that was found."""

    key: str
    in_force: Any
    found: Any


class Confirmed(Answer):
    """The settings that were confirmed."""

    confirmed: list[str]


class Record(Answer):
    """A record. `content` is as docs/ledger-format.md says; null where it was pruned, or cannot be read."""

    seq: int
    hash: Annotated[str, Field(description="Hexadecimal.")]
    pruned: bool
    content: dict[str, Any] | None


class Records(Answer):
    """Some records. `more`: whether others follow already. `next` is the cursor for what follows, now or later."""

    records: list[Record]
    next: str
    more: bool
