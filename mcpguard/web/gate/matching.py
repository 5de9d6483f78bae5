"""What a decision rests on, said by the tag of what was looked at: `If-Match`.

Rules kept here:
1. On the network every decision about something that is there names the tag under which it was seen; at the operator's
   socket it may. `*` names nothing that anybody has seen.
2. It is compared before anything is done, and once more when it is the decision's turn: it may have had to wait.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from fastapi import Request

from mcpguard.domain.decisions import Actor
from mcpguard.domain.errors import GuardError
from mcpguard.web.gate.access import whoever
from mcpguard.web.gate.peer import OperatorPeer

IF_MATCH: Final = "if-match"
_TAG: Final = re.compile(r'(W/)?"([\x21\x23-\x7e]{1,200})"')
SHOWN: Final[dict[str, Any]] = {"x-shown-with-tag": True}
"""Says in the document that the answer has an `ETag`."""
AS_SEEN: Final[dict[str, Any]] = {"x-rests-on-tag": True}
"""Says there that the request has an `If-Match`."""
Now = Callable[[], str]
"""The tag of what stands at this moment."""


class NotNamed(GuardError):
    """A decision does not say what it rests on."""


class Moved(GuardError):
    """Something else stands now than what the decision rests on. Nothing changed."""


def etag(tag: str) -> dict[str, str]:
    """The header with which something is shown."""
    return {"etag": f'"{tag}"'}


def resting(request: Request, by: Actor, now: Now) -> Actor:
    """Whoever decides, who may do so only as long as `now` is what they saw. Raises NotNamed or Moved."""
    seen = _seen(request)
    if seen is None:
        if not isinstance(whoever(request), OperatorPeer):
            raise NotNamed('say what this rests on: If-Match: "…", with the ETag under which you were shown it')
        return by
    return _held_to(seen, by, now)


def bound(seen: str, by: Actor, now: Now) -> Actor:
    """The same for a form, which carries the tag. Raises NotNamed or Moved."""
    if not seen:
        raise NotNamed("the form does not say what was seen; open the page again")
    return _held_to(seen, by, now)


def _held_to(seen: str, by: Actor, now: Now) -> Actor:
    _compare(seen, now)
    compared = False

    def holds() -> bool:
        nonlocal compared
        if not compared:
            compared = True  # what is done itself moves what was seen
            _compare(seen, now)
        return by.holds()

    return replace(by, holds=holds)


def _compare(seen: str, now: Now) -> None:
    if seen != now():
        raise Moved("this is not what stands now; look at it again, and decide with its new ETag")


def _seen(request: Request) -> str | None:
    given = request.headers.getlist(IF_MATCH)
    if not given:
        return None
    found = _TAG.fullmatch(given[0].strip()) if len(given) == 1 else None
    if found is None:
        raise NotNamed("If-Match names exactly one ETag, in its quotation marks, and not `*`")
    weak, tag = found.groups()
    return "" if weak else tag  # a weak tag is the same as none
