"""What inspection found, as it is told."""

from typing import Annotated

from pydantic import Field

from mcpguard.domain.findings import Severity
from mcpguard.web.api.answers.answer import ApiAnswer


class PlaceAnswer(ApiAnswer):
    """Where in a definition: the path of a string, and the part of it."""

    path: str
    start: int
    end: int


class FindingAnswer(ApiAnswer):
    """Something that inspection saw. The title is a constant of the guard's.

    `about`: the tool of another server that it has to do with, as `server:tool`.
    """

    rule: str
    threat: str
    severity: Severity
    confidence: float
    hard: bool
    title: str
    evidence: PlaceAnswer
    about: Annotated[str, Field(description="Others wrote this.")] = ""


class FindingShownAnswer(FindingAnswer):
    """With what stands at that place, hidden characters made visible."""

    excerpt: Annotated[str, Field(description="Others wrote this.")]


class TitleAnswer(ApiAnswer):
    """A finding as whoever is refused is told of it."""

    title: str
    severity: Severity
