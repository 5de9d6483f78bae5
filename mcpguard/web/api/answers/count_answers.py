"""Answers about how many calls there were."""

from typing import Annotated

from pydantic import Field

from mcpguard.web.api.answers.answer import ApiAnswer, Moment

Took = Annotated[int | None, Field(description="Microseconds, within 19 %; null if no call was sent, or if unknown.")]


class CallSumsAnswer(ApiAnswer):
    """The number of calls by their first verdict, and by their outcome. A call that is still held counts as `held`, any
    other that has not ended as `open`."""

    verdicts: dict[str, int]
    outcomes: dict[str, int]


class TookAboutAnswer(ApiAnswer):
    """How long half of the calls that were sent, and 95 in 100 of them, took at most. Held calls are left out."""

    p50: Took
    p95: Took


class CallBarAnswer(ApiAnswer):
    """The calls of one bar, which starts at `at`."""

    at: Moment
    sums: CallSumsAnswer
    took: TookAboutAnswer


class CountedToolAnswer(ApiAnswer):
    """How often a tool or prompt was called."""

    server: str
    name: str
    calls: int
    failed: int
    refused: int


class CountedCallerAnswer(ApiAnswer):
    """How often a caller, named by its id, called."""

    caller: str
    calls: int
    failed: int
    refused: int


class CountedUpToAnswer(ApiAnswer):
    """How far the calls are counted: from `since` on (null if none is), but for the `behind` newest records."""

    since: Moment | None
    behind: int


class SpanNumbersAnswer(ApiAnswer):
    """The calls that were made from `since` on and before `until`, in bars of `width` microseconds.

    `sums`, `took`: of all of them; `before`, `before_took`: of the span of the same length before it, null if that is
    not kept any more; `tools`, `callers`: those with most calls; `refused`: refused calls by reason; `unnamed`: calls
    that are counted without tool and caller.
    """

    since: Moment
    until: Moment
    width: int
    bars: list[CallBarAnswer]
    sums: CallSumsAnswer
    took: TookAboutAnswer
    before: CallSumsAnswer | None
    before_took: TookAboutAnswer | None
    tools: list[CountedToolAnswer]
    callers: list[CountedCallerAnswer]
    refused: dict[str, int]
    unnamed: int
    counted: CountedUpToAnswer


class ServerHourAnswer(ApiAnswer):
    """The calls of a server in the hour that begins at `at`."""

    at: Moment
    calls: int
    failed: int
    refused: int


class ServerDayAnswer(ApiAnswer):
    """The calls of a server in 24 hours, without hours that had none. `last`: the minute of the last call, or its hour
    if that is more than two hours ago."""

    hours: list[ServerHourAnswer]
    p95: Took
    last: Moment


class DayOfServersAnswer(ApiAnswer):
    """The calls of every server that had any in the 24 hours from `since` on, by the name of the server."""

    since: Moment
    servers: dict[str, ServerDayAnswer]
    counted: CountedUpToAnswer
