"""Checks of single values. No message here repeats the value."""

from pathlib import Path

from pydantic import SecretStr


def named(value: object) -> object:
    """A path, which must not be empty."""
    if value == "":
        raise ValueError("must name a path; it is empty")
    return value


def none_if_empty(value: object) -> object:
    """Left out and empty are the same."""
    return None if value == "" else value


def resolved(path: Path | None) -> Path | None:
    """The path as it is from anywhere."""
    try:
        return path and path.expanduser().resolve()
    except (OSError, RuntimeError, ValueError):
        raise ValueError("must be a path that can be resolved") from None


def database_url(url: SecretStr | None) -> SecretStr | None:
    """The URL of a database that we can use."""
    if url is None or not url.get_secret_value():
        return None
    if not url.get_secret_value().startswith("postgresql://"):
        raise ValueError("must begin with postgresql://, or be left out for the SQLite file in the data directory")
    return url
