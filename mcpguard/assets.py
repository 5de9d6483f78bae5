"""Where the files are that are not Python: in the installed package, else in the checkout."""

from importlib.resources import files
from pathlib import Path

_PACKAGE = Path(str(files("mcpguard")))


def webui() -> Path:
    """Templates and static files."""
    return _find("_webui", "webui")


def migrations() -> Path:
    """Alembic's scripts."""
    return _find("_migrations", "migrations")


def documents() -> Path:
    """The documentation, in Markdown."""
    return _find("_docs", "docs")


def _find(installed: str, checkout: str) -> Path:
    found = _PACKAGE / installed
    return found if found.is_dir() else _PACKAGE.parent / checkout
