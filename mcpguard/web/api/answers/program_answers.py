"""Answers about programs and scripts."""

from typing import Annotated, Any

from pydantic import Field

from mcpguard.domain.capabilities import Effect
from mcpguard.engines.code_run import FailureCode
from mcpguard.web.api.answers.answer import ApiAnswer, Moment


class NamedToolAnswer(ApiAnswer):
    """A tool that a program names."""

    name: str
    effect: Annotated[Effect | None, Field(description="Its approved effect; null if it is not approved.")]


class ProgramFailureAnswer(ApiAnswer):
    """Why a program ended without a value."""

    code: FailureCode
    message: str
    line: int | None = None


class CheckedProgramAnswer(ApiAnswer):
    """A program that was checked, and of which nothing ran."""

    named: list[NamedToolAnswer]
    error: ProgramFailureAnswer | None


class RunCallAnswer(ApiAnswer):
    """A call that a program made."""

    name: str
    status: str
    reason: str
    call_id: str


class EndedRunAnswer(ApiAnswer):
    """How a program ended: with a value, or with an error."""

    ok: bool
    value: Annotated[Any, Field(description="The value; left out after an error.")] = None
    error: ProgramFailureAnswer | None = None
    logs: list[str]
    answered: Annotated[int, Field(description="How many of its calls were answered.")]
    calls: Annotated[list[RunCallAnswer], Field(description="Its calls that were not answered.")]
    named: Annotated[list[NamedToolAnswer], Field(description="The tools that the program names.")]
    run_id: Annotated[str, Field(description="The id of the run: `parent:ID` finds its calls in the audit log.")] = ""


class ScriptAnswer(ApiAnswer):
    """A script as it was written down last."""

    name: str
    description: str
    code: str
    input_schema: dict[str, Any]
    tools: Annotated[list[str], Field(description="The tools whose holds its approval answers.")]
    effect: Effect
    revision: int
    at: Moment
    by: str
    standing: Annotated[str | None, Field(description="Its status as a capability; null if it is not listed yet.")]


class ScriptsAnswer(ApiAnswer):
    """All scripts, by name."""

    server: Annotated[str | None, Field(description="The server that lists them; null before the first one.")]
    scripts: list[ScriptAnswer]
