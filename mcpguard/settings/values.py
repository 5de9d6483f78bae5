"""Validators of single values. No message repeats the value."""

from pathlib import Path

from pydantic import SecretStr


def nonempty_path(value: object) -> object:
    """Return the value unless it is empty. Raises ValueError."""
    if value == "":
        raise ValueError("must name a path; it is empty")
    return value


def none_if_empty(value: object) -> object:
    """Return None for an empty value."""
    return None if value == "" else value


def resolve_path(path: Path | None) -> Path | None:
    """Return the absolute path, with `~` and symbolic links resolved. Raises ValueError."""
    try:
        return path and path.expanduser().resolve()
    except (OSError, RuntimeError, ValueError):
        raise ValueError("must be a path that can be resolved") from None


def absolute_path(path: Path | None) -> Path | None:
    """Return the absolute path with `~` resolved, and no link: what renews a file may let a link lead to another one.

    Raises ValueError.
    """
    try:
        return path and path.expanduser().absolute()
    except RuntimeError:
        raise ValueError("must be a path that can be resolved") from None


def database_url(url: SecretStr | None) -> SecretStr | None:
    """Return the URL of a PostgreSQL database, None if it is empty. Raises ValueError."""
    if url is None or not url.get_secret_value():
        return None
    if not url.get_secret_value().startswith("postgresql://"):
        raise ValueError("must begin with postgresql://, or be empty for the SQLite file in the data directory")
    return url
