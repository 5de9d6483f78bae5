"""Parses a well-formed `mcpguard stdio` before any slow import, because an agent waits for it to start.

Any other command line, such as --help or a mistake, is left to `mcpguard.cli.agents.stdio`, which has the same options
and the messages for it.
"""

from collections.abc import Sequence
from pathlib import Path

from mcpguard.codec.names import SEPARATORS
from mcpguard.relay.relay import USUAL, RelayCommand, RelayFace

OPTIONS = ("--config", "--data-dir", "--face", "--only", "--separator")


def parse_relay_command(words: Sequence[str]) -> RelayCommand | None:
    """The relay that the words after `stdio` ask for; None if the full command line parser is needed."""
    given: dict[str, str] = {}
    rest = iter(words)
    for word in rest:
        option, joined, value = word.partition("=")
        if not joined:
            value = next(rest, "-")
        if option not in OPTIONS or value.startswith("-"):
            return None
        given[option] = value
    face = given.get("--face", USUAL)
    if face not in {*RelayFace} or (face == RelayFace.TRANSPARENT and "--only" not in given):
        return None
    separator = given.get("--separator")
    if separator not in (None, *SEPARATORS):
        return None
    return RelayCommand(
        _path(given.get("--config")), _path(given.get("--data-dir")), RelayFace(face), given.get("--only"), separator
    )


def _path(text: str | None) -> Path | None:
    return None if text is None else Path(text)
