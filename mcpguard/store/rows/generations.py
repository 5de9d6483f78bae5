"""Checks that a verdict is based on what the store has, in the transaction that opens the call.

Without this check, a decision stored between judging and opening a call would come too late for it (a race).
"""

from sqlalchemy import Connection

from mcpguard.store.rows.statements import Statement

_FOUND = Statement(
    "SELECT (SELECT generation FROM upstreams WHERE id = ?), "
    "(SELECT generation FROM capabilities WHERE id = ? AND upstream = ?), "
    "(SELECT 1 FROM callers WHERE id = ? AND revoked_at IS NULL)"
)


Generation = tuple[str, int]
"""The id of a row, and the number that grows with each decision about it."""


def are_current(
    connection: Connection, upstream: Generation | None, pin: Generation | None, caller: str | None = None
) -> bool:
    """Tell whether the store has this server and this capability in these generations, and has not revoked the caller.

    None: the verdict does not rest on one.
    """
    (of, server), (to, capability) = upstream or ("", None), pin or ("", None)
    found = _FOUND.first(connection, (of, to, of, caller or ""))
    assert found is not None  # noqa: S101 - a row of three values in any case
    return found[0] == server and found[1] == capability and (caller is None or found[2] is not None)
