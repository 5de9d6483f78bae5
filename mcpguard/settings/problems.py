"""Configuration problems, as sentences for the operator.

Each sentence names the setting as it was written, its source, and how to fix it. All problems are reported together. No
sentence contains a value: an operator may have put a secret where a number belongs.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Final, Self

ENV_PREFIX: Final = "MCPGUARD_"
_LONGEST_NAME: Final = 80
_SAME_LAST_PART: Final = 0.25


class SettingsError(Exception):
    """The settings cannot be used. `problems` has every reason."""

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(self.problems))


@dataclass(frozen=True, slots=True)
class SettingOrigin:
    """The source of a value: `label` as `config show` prints it, `subject` as the beginning of a sentence."""

    label: str
    subject: str

    @classmethod
    def command_line(cls, key: str) -> Self:
        flag = "--" + key.replace(".", "-").replace("_", "-")
        return cls(f"command line {flag}", f"{flag} on the command line")

    @classmethod
    def environment(cls, name: str) -> Self:
        return cls(f"environment {name}", f"{name} in the environment")

    @classmethod
    def file(cls, path: Path, key: str) -> Self:
        return cls(f"file {path}", f"mcpguard.{printable(key)} in {path}")


def unknown_setting(subject: str, name: str, known: Iterable[str]) -> str:
    """Return the sentence for an unknown setting, with the nearest known one."""
    return f"{subject} is not a setting; did you mean {nearest(name, known)}?"


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the most similar of the known names, of equally similar ones the first. The last part counts for more."""
    matcher = SequenceMatcher(b=name[:_LONGEST_NAME].casefold())

    def similarity(candidate: str) -> float:
        matcher.set_seq1(candidate.casefold())
        return matcher.ratio() + (_SAME_LAST_PART if _last_part(candidate) == _last_part(name) else 0)

    return max(known, key=similarity)


def printable(text: str) -> str:
    """Return the text, shortened, without characters that a terminal would obey."""
    short = text if len(text) <= _LONGEST_NAME else text[:_LONGEST_NAME] + "…"
    return short if short.isprintable() else json.dumps(short)[1:-1]


def _last_part(name: str) -> str:
    return name.removeprefix(ENV_PREFIX).replace("__", ".").rpartition(".")[2]
