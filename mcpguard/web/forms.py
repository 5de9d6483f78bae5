"""Parses the forms of the pages strictly, and converts errors into messages for a page."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl

from fastapi import Request

from mcpguard.domain.decisions import PasswordNeeded
from mcpguard.domain.errors import GuardError, LedgerUnavailable, StoreUnavailable
from mcpguard.domain.people import TooManyTries
from mcpguard.web.gate.matching import Moved
from mcpguard.web.gate.problems import PROBLEMS

LARGEST: Final = 16 * 1024
MOST_FIELDS: Final = 20
UNWRITTEN: Final = "Not done: the audit log cannot be written. Try again when the guard is recording again."
MOVED: Final = "Not saved: it changed while you were reading. Your input is kept; review the changes and send it again."
_KIND: Final = "application/x-www-form-urlencoded"


class Misshapen(GuardError):
    """The request is not one that a form of the console could have sent."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


@dataclass(frozen=True, slots=True)
class PageProblem:
    """An error as a page shows it: its status, its sentence, and how many seconds to wait.

    `moved`: what changed since the page was shown; `password`: whether the password is needed once more.
    """

    status: int = 200
    sentence: str = ""
    wait: int = 0
    moved: tuple[str, ...] = ()
    password: bool = False


FINE: Final = PageProblem()


def page_problem(error: GuardError) -> PageProblem:
    """Turn an expected error into what a page shows."""
    text = str(error)
    sentence = f"{text[:1].upper()}{text[1:]}"
    sentence += "" if sentence.endswith((".", "…")) else "."
    status = next((PROBLEMS[kind].status for kind in type(error).__mro__ if kind in PROBLEMS), 422)
    match error:
        case Misshapen():
            return PageProblem(error.status, sentence)
        case Moved():
            return PageProblem(409, MOVED)
        case LedgerUnavailable() | StoreUnavailable():
            return PageProblem(503, UNWRITTEN)
        case _:
            wait = error.seconds if isinstance(error, TooManyTries) else 0
            moved = getattr(error, "moved", ())
            return PageProblem(status, sentence, wait, moved, isinstance(error, PasswordNeeded))


class SentForm:
    """The fields of a form, in the order in which they were sent."""

    def __init__(self, sent: list[tuple[str, str]]) -> None:
        self._sent = sent

    def one(self, name: str, default: str = "") -> str:
        """Return the value of a field. Raises Misshapen where it was sent more than once."""
        found = self.every(name)
        if len(found) > 1:
            raise Misshapen(400, "a form field was sent twice")
        return found[0] if found else default

    def every(self, name: str) -> tuple[str, ...]:
        return tuple(value for each, value in self._sent if each == name)

    def beginning(self, prefix: str) -> dict[str, str]:
        """Return the fields whose names begin with a prefix, by the rest of their names. Raises Misshapen."""
        found = [(name.removeprefix(prefix), value) for name, value in self._sent if name.startswith(prefix)]
        if len(dict(found)) != len(found):
            raise Misshapen(400, "a form field was sent twice")
        return dict(found)


async def form(request: Request, largest: int = LARGEST, most: int = MOST_FIELDS) -> SentForm:
    """Read the form of a request. Raises Misshapen."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _KIND:
        raise Misshapen(415, "the request is not a form")
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > largest:
            raise Misshapen(413, "the form is too large")
    try:
        text = body.decode("ascii")
        sent = parse_qsl(text, keep_blank_values=True, strict_parsing=bool(text), errors="strict", max_num_fields=most)
    except ValueError:
        raise Misshapen(400, "the form cannot be read") from None
    return SentForm([(name, value.replace("\r\n", "\n")) for name, value in sent])


async def fields(request: Request) -> Mapping[str, str]:
    """Read a form whose fields were each sent once, by name. Raises Misshapen."""
    sent = await form(request)
    return sent.beginning("")
