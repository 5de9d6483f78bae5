"""Which of the agent's requests have no answer yet, so that each can be told if none will come.

Rules kept here:
1. A message is looked at, never changed and never refused: that is the guard's business. What cannot be read as a
   request with a proper id is let pass.
2. What is remembered is bounded, whatever an agent sends: beyond the bounds a request is relayed all the same.
"""

import json
from typing import Any, Final

from mcpguard.codec.envelope import from_guard

MOST: Final = 10_000
LONGEST_ID: Final = 256
INTERNAL_ERROR: Final = -32603

Id = str | int


class Pending:
    """Two threads share it; each of the dictionary's operations used here is one step to both."""

    def __init__(self) -> None:
        self._ids: dict[Id, None] = {}

    def asked(self, message: bytes) -> None:
        """The agent says this."""
        said = _members(message)
        if said.get("method") == "notifications/cancelled" and isinstance(params := said.get("params"), dict):
            self._answered(params.get("requestId"))
        elif "method" in said and _is_id(said.get("id")) and len(self._ids) < MOST:
            self._ids[said["id"]] = None

    def answered(self, message: bytes) -> None:
        """The guard says this."""
        said = _members(message) if self._ids else {}
        if "method" not in said:
            self._answered(said.get("id"))

    def refusals(self, sentence: str) -> list[bytes]:
        """An error for every request that has no answer."""
        error = from_guard({"code": INTERNAL_ERROR, "message": sentence})
        return [json.dumps({"jsonrpc": "2.0", "id": id_, "error": error}).encode() for id_ in list(self._ids)]

    def _answered(self, id_: object) -> None:
        if isinstance(id_, str) or type(id_) is int:
            self._ids.pop(id_, None)


def _members(message: bytes) -> dict[str, Any]:
    try:
        said = json.loads(message)
    except (ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}


def _is_id(value: object) -> bool:
    return (isinstance(value, str) and len(value) <= LONGEST_ID) or (type(value) is int and abs(value) < 1 << 64)
