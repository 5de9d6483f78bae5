"""Templates. What others wrote is escaped always, and shown with hidden characters made visible."""

from datetime import UTC, datetime
from pathlib import Path

from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from mcpguard import __version__
from mcpguard.text.visible import visible


class Views:
    """Renders the pages in a folder of templates."""

    def __init__(self, folder: Path) -> None:
        self._environment = Environment(
            loader=FileSystemLoader(folder), autoescape=True, undefined=StrictUndefined, trim_blocks=True
        )
        self._environment.globals["version"] = __version__
        self._environment.filters.update(utc=_utc, iso=_iso, visible=visible)

    def page(self, template: str, status_code: int = 200, **values: object) -> HTMLResponse:
        text = self._environment.get_template(template).render(values)
        return HTMLResponse(text, status_code=status_code, headers={"cache-control": "no-store"})


def _utc(microseconds: int) -> str:
    return f"{datetime.fromtimestamp(microseconds / 1e6, UTC):%Y-%m-%d %H:%M:%S} UTC"


def _iso(microseconds: int) -> str:
    return f"{datetime.fromtimestamp(microseconds / 1e6, UTC):%Y-%m-%dT%H:%M:%SZ}"
