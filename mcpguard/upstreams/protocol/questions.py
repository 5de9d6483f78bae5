"""Parses the questions that a server of the modern era returns in place of a result (`input_required`)."""

from collections.abc import Mapping
from typing import Any, Final

from mcpguard.domain.asks import KINDS, Ask

MOST_ROUNDS: Final = 32
"""How often one call is sent to a server at most. Questions to its client have a limit of their own."""
STATE: Final = "requestState"
_ASKING: Final = frozenset({"tools/call", "prompts/get", "resources/read"})


def questions(method: str, wanted: Mapping[str, Any]) -> dict[str, Ask] | None:
    """Return the server's questions by the names that it gave them; None if the answer is malformed."""
    requests = wanted.get("inputRequests", {})
    if method not in _ASKING or not isinstance(requests, dict) or not isinstance(wanted.get(STATE, ""), str):
        return None
    found = {name: ask for name, each in requests.items() if (ask := _ask(each)) is not None}
    return found if len(found) == len(requests) and (found or STATE in wanted) else None


def _ask(said: object) -> Ask | None:
    match said:
        case {"method": str(method), "params": dict(params)} if method in KINDS:
            return Ask(method, params)
        case {"method": "roots/list", **rest} if "params" not in rest:
            return Ask("roots/list", {})
        case _:
            return None
