"""The span of time that a page of numbers shows, as its URL names it."""

from dataclasses import dataclass
from typing import Final, Self

from fastapi import Request

from mcpguard.codec.filters import moment, write
from mcpguard.domain.calls.counted_calls import Grain
from mcpguard.domain.filters import BadFilter, Filter
from mcpguard.guard.audit.call_numbers import LONGEST_SPAN

RANGES: Final = {"1h": "1 h", "24h": "24 h", "7d": "7 d", "30d": "30 d"}
"""The spans up to now that are offered, by how the URL names them."""
USUAL: Final = "24h"
_LONGEST: Final = 40


@dataclass(frozen=True, slots=True)
class TimeRange:
    """From `since` on and before `until`, in microseconds; `word` is that of an offered range, "" for any other.

    `problem` says what is wrong with the times in the URL, where the usual range is shown instead.
    """

    since: int
    until: int
    word: str
    problem: str = ""

    @classmethod
    def from_request(cls, request: Request, now: int) -> Self:
        """Read the range in the URL: `range=7d`, or `since=` and `until=` as the filters of the audit log have them."""
        given = request.query_params
        word = given.get("range", USUAL)
        usual = moment(word if word in RANGES else USUAL, now)
        since, until = (given.get(name, "").strip()[:_LONGEST] for name in ("since", "until"))
        if not since:
            return cls(usual, now, word if word in RANGES else USUAL)
        try:
            begins, ends = moment(since, now), moment(until, now) if until else now
        except BadFilter as error:
            return cls(usual, now, USUAL, f"Showing the last 24 hours: {error}")
        if not Grain.MINUTE <= ends - begins <= LONGEST_SPAN:
            return cls(usual, now, USUAL, "Showing the last 24 hours: a range has between a minute and two years")
        return cls(begins, ends, "")

    @property
    def terms(self) -> str:
        """The terms of a filter of the audit log for the same span."""
        return write(Filter((), self.since, self.until))
