"""What a form of ours sends: fields as text, or it is refused; and how its page tells what is wrong."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl

from fastapi import Request

from mcpguard.domain.decisions import PasswordNeeded
from mcpguard.domain.errors import GuardError, LedgerUnavailable, StoreUnavailable
from mcpguard.domain.people import TooManyTries
from mcpguard.web.gate.matching import Moved
from mcpguard.web.gate.problems import STATUS

LARGEST: Final = 16 * 1024
MOST_FIELDS: Final = 20
UNWRITTEN: Final = "Nothing can be recorded now, so nothing was done. Try again when the guard takes calls."
MOVED: Final = "Nothing was done: it changed while you read. What you typed is kept; look at it again, and decide then."
_KIND: Final = "application/x-www-form-urlencoded"


class Misshapen(GuardError):
    """No form of ours sends this."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


@dataclass(frozen=True, slots=True)
class PageProblem:
    """What a page says of a problem: with which status, in which sentence, and how many seconds to wait.

    `moved`: what stands otherwise than it was shown; `password`: whether it is asked for once more.
    """

    status: int = 200
    sentence: str = ""
    wait: int = 0
    moved: tuple[str, ...] = ()
    password: bool = False


FINE: Final = PageProblem()


def told(error: GuardError) -> PageProblem:
    """What a page says of an error that was foreseen."""
    text = str(error)
    sentence = f"{text[:1].upper()}{text[1:]}"
    sentence += "" if sentence.endswith((".", "…")) else "."
    status = next((STATUS[kind][0] for kind in type(error).__mro__ if kind in STATUS), 422)
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
    """What was sent."""

    def __init__(self, sent: list[tuple[str, str]]) -> None:
        self._sent = sent

    def one(self, name: str, default: str = "") -> str:
        """Raises Misshapen where it is there more than once."""
        found = self.every(name)
        if len(found) > 1:
            raise Misshapen(400, "a field is there more than once")
        return found[0] if found else default

    def every(self, name: str) -> tuple[str, ...]:
        return tuple(value for each, value in self._sent if each == name)

    def beginning(self, prefix: str) -> dict[str, str]:
        """The fields whose names begin so, by the rest of their names. Raises Misshapen."""
        found = [(name.removeprefix(prefix), value) for name, value in self._sent if name.startswith(prefix)]
        if len(dict(found)) != len(found):
            raise Misshapen(400, "a field is there more than once")
        return dict(found)


async def form(request: Request, largest: int = LARGEST, most: int = MOST_FIELDS) -> SentForm:
    """Raises Misshapen."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _KIND:
        raise Misshapen(415, "this takes what a form sends")
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > largest:
            raise Misshapen(413, "this is more than the form has room for")
    try:
        text = body.decode("ascii")
        sent = parse_qsl(text, keep_blank_values=True, strict_parsing=bool(text), errors="strict", max_num_fields=most)
    except ValueError:
        raise Misshapen(400, "this is nothing that a form sends") from None
    return SentForm([(name, value.replace("\r\n", "\n")) for name, value in sent])


async def fields(request: Request) -> Mapping[str, str]:
    """By name, each once. Raises Misshapen."""
    sent = await form(request)
    return sent.beginning("")
