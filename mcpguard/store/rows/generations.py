"""Checks that a verdict is based on the stored generations, in the transaction that opens the call.

Without this check, a decision stored between judging and opening a call would come too late for it (a race).
"""

from sqlalchemy import Connection

from mcpguard.store.rows.statements import Statement

_OF_UPSTREAM = Statement("SELECT generation FROM upstreams WHERE id = ?")
_OF_BOTH = Statement(
    "SELECT upstreams.generation, capabilities.generation FROM upstreams "
    "JOIN capabilities ON capabilities.upstream = upstreams.id WHERE upstreams.id = ? AND capabilities.id = ?"
)


def are_current(connection: Connection, upstream: tuple[str, int], pin: tuple[str, int] | None) -> bool:
    """Tell whether the server, and the capability if there is a pin, have these generations in the store."""
    if pin is None:
        found = _OF_UPSTREAM.first(connection, (upstream[0],))
        return found is not None and found[0] == upstream[1]
    found = _OF_BOTH.first(connection, (upstream[0], pin[0]))
    return found is not None and tuple(found) == (upstream[1], pin[1])
