"""What a form of ours sends: each field once, as text, or it is refused; and how its page tells what is wrong."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl

from fastapi import Request

from mcpguard.domain.decisions import Undecidable
from mcpguard.domain.errors import GuardError, LedgerUnavailable, StoreUnavailable
from mcpguard.domain.people import NotProven, TooManyTries, UserTaken

LARGEST: Final = 16 * 1024
MOST_FIELDS: Final = 20
UNWRITTEN: Final = "Nothing can be recorded now, so nothing was done. Try again when the guard takes calls."
_KIND: Final = "application/x-www-form-urlencoded"


class Misshapen(GuardError):
    """No form of ours sends this."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


PROBLEMS: Final = (Misshapen, NotProven, TooManyTries, Undecidable, UserTaken, LedgerUnavailable, StoreUnavailable)
"""What can be wrong with what a form sends, and is told on its page."""


@dataclass(frozen=True, slots=True)
class Told:
    """What a page says of a problem: with which status, in which sentence, and how many seconds to wait."""

    status: int = 200
    sentence: str = ""
    wait: int = 0


def told(error: GuardError) -> Told:
    """What a page says of one of the problems."""
    text = str(error)
    sentence = f"{text[:1].upper()}{text[1:]}."
    match error:
        case Misshapen():
            return Told(error.status, sentence)
        case NotProven():
            return Told(401, sentence)
        case TooManyTries():
            return Told(429, sentence, error.seconds)
        case LedgerUnavailable() | StoreUnavailable():
            return Told(503, UNWRITTEN)
        case _:
            return Told(422, sentence)


async def fields(request: Request) -> Mapping[str, str]:
    """By name. Raises Misshapen."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _KIND:
        raise Misshapen(415, "this takes what a form sends")
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > LARGEST:
            raise Misshapen(413, "this is more than the form has room for")
    try:
        text = body.decode("ascii")
        sent = parse_qsl(
            text, keep_blank_values=True, strict_parsing=bool(text), errors="strict", max_num_fields=MOST_FIELDS
        )
    except ValueError:
        raise Misshapen(400, "this is nothing that a form sends") from None
    found = dict(sent)
    if len(found) != len(sent):
        raise Misshapen(400, "a field is there more than once")
    return found
