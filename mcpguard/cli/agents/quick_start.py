"""The well-formed `mcpguard stdio`, understood before anything slow is imported: an agent waits for it to start.

Whatever else stands on the command line, a wish for help or a mistake, is left to `mcpguard.cli.agents.stdio`, which
knows the same options and has the words for it.
"""

from collections.abc import Sequence
from pathlib import Path

from mcpguard.codec.names import SEPARATORS
from mcpguard.relay.relay import USUAL, RelayCommand, RelayFace

OPTIONS = ("--config", "--data-dir", "--face", "--only", "--separator")


def understood(words: Sequence[str]) -> RelayCommand | None:
    """What is asked by the words after `stdio`. None if that takes more than a glance."""
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
