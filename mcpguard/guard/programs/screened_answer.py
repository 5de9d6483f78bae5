"""Screens what a program answers, in the strictest mode of the servers that it called."""

from collections.abc import Sequence
from typing import Any, Final

from mcpguard.domain.screening import Screening
from mcpguard.guard.calls.screening import MOST_RULES, Screener, rules_of
from mcpguard.inspection.replies.screening import OutOfTime

_STRICTNESS: Final = tuple(Screening)


async def screen_answer(
    screener: Screener, called: Sequence[str], value: dict[str, Any]
) -> tuple[dict[str, Any] | None, dict[str, Any]]:
    """Return what is passed on of the answer, None where it is withheld, and what was found in it."""
    mode = max(map(screener.mode, called), key=_STRICTNESS.index, default=Screening.OFF)
    found: dict[str, Any] = {}
    for server in called if mode is not Screening.OFF else ():
        try:
            looked = await screener.look(server, value, mode)
        except OutOfTime:
            return None, {"mode": mode.value}
        if looked.found or looked.masked:
            masked = found.get("masked", 0) + looked.masked
            rules = [*dict.fromkeys((*found.get("rules", ()), *rules_of(looked)))][:MOST_RULES]
            found = {"mode": mode.value, "rules": rules} | ({"masked": masked} if masked else {})
        if mode is Screening.REFUSE and looked.hard:
            return None, found
        value = looked.value
    return value, found
