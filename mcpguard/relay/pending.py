"""The agent's requests that have no answer yet, so that each gets an error if none will come.

Rules kept here:
1. A message is read, never changed and never refused: that is up to the guard. What cannot be read as a request with a
   proper id is passed on.
2. What is remembered is bounded, whatever an agent sends: beyond the bounds a request is relayed all the same.
"""

import json
from typing import Any, Final

from mcpguard.codec.envelope import as_guard_error

MOST: Final = 10_000
LONGEST_ID: Final = 256
INTERNAL_ERROR: Final = -32603

Id = str | int


class PendingRequests:
    """The ids of open requests. Two threads share it; each operation on the dictionary is atomic."""

    def __init__(self) -> None:
        self._ids: dict[Id, None] = {}

    def note_request(self, message: bytes) -> None:
        """Read a message of the agent."""
        said = _members(message)
        if said.get("method") == "notifications/cancelled" and isinstance(params := said.get("params"), dict):
            self._answered(params.get("requestId"))
        elif "method" in said and _is_id(said.get("id")) and len(self._ids) < MOST:
            self._ids[said["id"]] = None

    def note_answer(self, message: bytes) -> None:
        """Read a message of the guard."""
        said = _members(message) if self._ids else {}
        if "method" not in said:
            self._answered(said.get("id"))

    def refusals(self, sentence: str) -> list[bytes]:
        """Return an error for every request that has no answer."""
        error = as_guard_error({"code": INTERNAL_ERROR, "message": sentence})
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
