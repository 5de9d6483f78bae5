"""The templates of the pages. Untrusted text is always escaped, and its hidden characters are made visible."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Final

from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from mcpguard import __version__
from mcpguard.domain.findings import Severity
from mcpguard.text.visible import visible
from mcpguard.web.visible_text import pieces

_UNITS: Final[tuple[tuple[int, str], ...]] = ((86_400, "d"), (3600, "h"), (60, "min"), (1, "s"))
SECOND: Final = 1_000_000
_ACTOR: Final = re.compile(r"(?P<kind>user|token|uid):[0-9a-f-]+ \((?P<name>[^()]+)\)")
_ACTORS: Final = {"user": "{}", "token": "{} (token)", "uid": "{} (local)"}
"""How an actor of each kind is called on a page; the id is shown in a title or among the details."""


class PageViews:
    """Renders pages from a folder of templates."""

    def __init__(self, folder: Path) -> None:
        self._environment = _environment(folder)

    def page(self, template: str, status_code: int = 200, **values: object) -> HTMLResponse:
        text = self._environment.get_template(template).render(values)
        return HTMLResponse(text, status_code=status_code, headers={"cache-control": "no-store"})


@cache
def _environment(folder: Path) -> Environment:
    """Make the environment of a folder once, so that all guards of a process share the compiled templates."""
    made = Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.globals["version"] = __version__
    made.filters.update(
        tally=_tally,
        utc=_utc,
        iso=_iso,
        clock=_clock,
        stamp=_stamp,
        brief=_brief,
        ago=_ago,
        until=_until,
        visible=visible,
        pieces=pieces,
        count=count_with_noun,
        actor=_actor,
    )
    return made


def _utc(microseconds: int) -> str:
    return f"{datetime.fromtimestamp(microseconds / 1e6, UTC):%Y-%m-%d %H:%M:%S} UTC"


def _iso(microseconds: int) -> str:
    return f"{datetime.fromtimestamp(microseconds / 1e6, UTC):%Y-%m-%dT%H:%M:%SZ}"


def _clock(microseconds: int) -> str:
    return f"{datetime.fromtimestamp(microseconds / 1e6, UTC):%H:%M:%S}"


def _stamp(microseconds: int, now: int) -> str:
    """Write the time of day, with the date if that is not today."""
    at, today = (datetime.fromtimestamp(each / 1e6, UTC) for each in (microseconds, now))
    if at.date() == today.date():
        return f"{at:%H:%M:%S}"
    return f"{at.day} {at:%b %H:%M:%S}" if at.year == today.year else f"{at:%Y-%m-%d %H:%M}"


def _brief(microseconds: int, now: int) -> str:
    """Write the time of day without seconds, with the date if that is not today."""
    at, today = (datetime.fromtimestamp(each / 1e6, UTC) for each in (microseconds, now))
    return f"{at:%H:%M}" if at.date() == today.date() else f"{at.day} {at:%b %H:%M}"


def _ago(microseconds: int, now: int) -> str:
    seconds = max(0, now - microseconds) // SECOND
    return "now" if seconds < 1 else f"{_long(seconds)} ago"


def _until(microseconds: int, now: int) -> str:
    return _long(max(0, microseconds - now) // SECOND)


def _long(seconds: int) -> str:
    """Write a duration in its largest unit; up to ten minutes also with seconds."""
    if seconds >= 60 and seconds < 3600:
        return f"{seconds // 60} min {seconds % 60} s" if seconds % 60 and seconds < 600 else f"{seconds // 60} min"
    size, unit = next(each for each in _UNITS if seconds >= each[0] or each[0] == 1)
    return f"{seconds // size} {unit}"


def _tally(findings: Iterable[Mapping[str, Any]]) -> list[tuple[str, int]]:
    """Count findings, which are JSON, by severity, the worst first."""
    counts = Counter(finding["severity"] for finding in findings)
    return [(each.value, counts[each.value]) for each in reversed(Severity) if counts[each.value]]


def count_with_noun(number: int, one: str, many: str = "") -> str:
    """Write a number with its noun: `1 tool`, `2,000 tools`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def _actor(text: str) -> str:
    """Name an actor without the id: `ada`, `ci (token)`, `root (local)`. Other text is returned as it is."""
    actor = _ACTOR.fullmatch(text)
    return _ACTORS[actor["kind"]].format(actor["name"]) if actor else text
