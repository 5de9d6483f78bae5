"""What inspection found, as it is told."""

from typing import Annotated

from pydantic import Field

from mcpguard.domain.findings import Severity
from mcpguard.web.api.answers.answer import Answer


class Place(Answer):
    """Where in a definition: the path of a string, and the part of it."""

    path: str
    start: int
    end: int


class Finding(Answer):
    """Something that inspection saw. The title is a constant of the guard's.

    `about`: the tool of another server that it has to do with, as `server:tool`.
    """

    rule: str
    threat: str
    severity: Severity
    confidence: float
    hard: bool
    title: str
    evidence: Place
    about: Annotated[str, Field(description="Others wrote this.")] = ""


class FindingShown(Finding):
    """With what stands at that place, hidden characters made visible."""

    excerpt: Annotated[str, Field(description="Others wrote this.")]


class Title(Answer):
    """A finding as whoever is refused is told of it."""

    title: str
    severity: Severity
