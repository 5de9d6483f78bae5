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


class FindingReasonedAnswer(FindingAnswer):
    """A finding with a sentence that says why it matters and what to look at. `why`: constant text of the guard."""

    why: str


class DecodedTextAnswer(ApiAnswer):
    """What encoded text decodes to, cut, with hidden characters made visible. `encoding`: a word of the guard."""

    encoding: str
    text: Annotated[str, Field(description="Untrusted: written by the server.")]


class FindingShownAnswer(FindingReasonedAnswer):
    """A finding with an excerpt of the text at its place, hidden characters made visible.

    `decoded`: what that text decodes to, layer by layer, where the finding is about encoded text.
    """

    excerpt: Annotated[str, Field(description="Untrusted: written by the server.")]
    decoded: list[DecodedTextAnswer]


class TitleAnswer(ApiAnswer):
    """A finding as an agent sees it in a denial."""

    title: str
    severity: Severity
