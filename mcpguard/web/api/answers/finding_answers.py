"""Answers about findings."""

from typing import Annotated

from pydantic import Field

from mcpguard.domain.findings import Severity
from mcpguard.web.api.answers.answer import ApiAnswer


class PlaceAnswer(ApiAnswer):
    """A place in a definition: the path of a string, and the range of characters in it."""

    path: str
    start: int
    end: int


class FindingAnswer(ApiAnswer):
    """A finding of an inspection. `title`: constant text of the guard.

    `about`: the tool of another server that it refers to, as `server:tool`.
    """

    rule: str
    threat: str
    severity: Severity
    confidence: float
    hard: bool
    title: str
    evidence: PlaceAnswer
    about: Annotated[str, Field(description="Untrusted: written by the server.")] = ""


class FindingShownAnswer(FindingAnswer):
    """A finding with an excerpt of the text at its place, hidden characters made visible."""

    excerpt: Annotated[str, Field(description="Untrusted: written by the server.")]


class TitleAnswer(ApiAnswer):
    """A finding as an agent sees it in a denial."""

    title: str
    severity: Severity
