"""Binds a decision to the version that the reviewer saw, by its ETag in `If-Match`.

Rules kept here:
1. On the network, every decision about an existing object must name the ETag that was seen; on the operator's socket it
   may. `*` is refused, because it names no version that anyone has seen.
2. The ETag is compared before anything is done, and again when the decision's turn comes: it may have waited for other
   decisions that changed the same object.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from fastapi import Request

from mcpguard.domain.decisions import Actor
from mcpguard.domain.errors import GuardError
from mcpguard.web.gate.peer import OperatorPeer
from mcpguard.web.gate.sender import whoever

IF_MATCH: Final = "if-match"
_TAG: Final = re.compile(r'(W/)?"([\x21\x23-\x7e]{1,200})"')
SHOWN: Final[dict[str, Any]] = {"x-shown-with-tag": True}
"""Marks a route whose answer has an `ETag`, for the OpenAPI document."""
AS_SEEN: Final[dict[str, Any]] = {"x-rests-on-tag": True}
"""Marks a route whose request needs an `If-Match`, for the OpenAPI document."""
Now = Callable[[], str]
"""Returns the ETag of the current state."""


class NotNamed(GuardError):
    """A decision does not name the ETag that it is about."""


class Moved(GuardError):
    """The ETag of a decision is out of date. Nothing was changed."""


def etag(tag: str) -> dict[str, str]:
    """Make the `ETag` header."""
    return {"etag": f'"{tag}"'}


def bind_to_if_match(request: Request, by: Actor, now: Now) -> Actor:
    """Limit an actor to deciding as long as the ETag in `If-Match` is current. Raises NotNamed or Moved."""
    seen = _seen(request)
    if seen is None:
        if not isinstance(whoever(request), OperatorPeer):
            raise NotNamed('send If-Match: "…" with the ETag of the version that you reviewed')
        return by
    return _held_to(seen, by, now)


def bind_to_tag(seen: str, by: Actor, now: Now) -> Actor:
    """Limit an actor to deciding as long as the ETag that a form carries is current. Raises NotNamed or Moved."""
    if not seen:
        raise NotNamed("the form is incomplete; reload the page and try again")
    return _held_to(seen, by, now)


def _held_to(seen: str, by: Actor, now: Now) -> Actor:
    _compare(seen, now)
    compared = False

    def holds() -> bool:
        nonlocal compared
        if not compared:
            compared = True  # only once: the decision itself changes the tag
            _compare(seen, now)
        return by.holds()

    return replace(by, holds=holds)


def _compare(seen: str, now: Now) -> None:
    if seen != now():
        raise Moved("it changed since you reviewed it; review it again and send the new ETag")


def _seen(request: Request) -> str | None:
    given = request.headers.getlist(IF_MATCH)
    if not given:
        return None
    found = _TAG.fullmatch(given[0].strip()) if len(given) == 1 else None
    if found is None:
        raise NotNamed("If-Match takes exactly one ETag in quotation marks, not `*`")
    weak, tag = found.groups()
    return "" if weak else tag  # a weak tag never matches
