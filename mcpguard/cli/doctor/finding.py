"""The findings of checks.

Rules kept here:
1. `check` and `level` are for scripts and never change; `sentence` and `next` are for people.
2. No sentence contains a secret: only names of variables, files, settings and servers, numbers, and what is wrong.
3. Untrusted text, from a server or an error, is in `sentence` or `lines` unescaped; the code that prints it escapes it.
"""

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """How much a finding matters. Only problems count for the exit code."""

    OK = "ok"
    NOTICE = "notice"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class DoctorFinding:
    """`check` says what was checked; `of` which one of several: a server, a file, a variable.
    `next`: what to do about it. `lines`: the last output of somebody else about it."""

    check: str
    level: Level
    sentence: str
    next: str = ""
    of: str = ""
    lines: tuple[str, ...] = ()


def ok(check: str, sentence: str, *, of: str = "") -> DoctorFinding:
    return DoctorFinding(check, Level.OK, sentence, of=of)


def notice(check: str, sentence: str, next_: str = "", *, of: str = "", lines: tuple[str, ...] = ()) -> DoctorFinding:
    return DoctorFinding(check, Level.NOTICE, sentence, next_, of, lines)


def problem(check: str, sentence: str, next_: str, *, of: str = "", lines: tuple[str, ...] = ()) -> DoctorFinding:
    return DoctorFinding(check, Level.PROBLEM, sentence, next_, of, lines)
