"""Checks that a verdict is based on the stored generations, in the transaction that opens the call.

Without this check, a decision stored between judging and opening a call would come too late for it (a race).
"""

from sqlalchemy import Connection, bindparam, select

from mcpguard.store.rows.tables import capabilities, upstreams

_OF_UPSTREAM = select(upstreams.c.generation).where(upstreams.c.id == bindparam("upstream"))
_OF_BOTH = (
    select(upstreams.c.generation, capabilities.c.generation)
    .join(capabilities, capabilities.c.upstream == upstreams.c.id)
    .where(upstreams.c.id == bindparam("upstream"), capabilities.c.id == bindparam("pin"))
)


def are_current(connection: Connection, upstream: tuple[str, int], pin: tuple[str, int] | None) -> bool:
    """Tell whether the server, and the capability if there is a pin, have these generations in the store."""
    if pin is None:
        return connection.scalar(_OF_UPSTREAM, {"upstream": upstream[0]}) == upstream[1]
    found = connection.execute(_OF_BOTH, {"upstream": upstream[0], "pin": pin[0]}).first()
    return found is not None and tuple(found) == (upstream[1], pin[1])
