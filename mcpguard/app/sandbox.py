"""Whether servers can be confined on this machine: found out once for a process, by confining one."""

from functools import cache

import structlog
from anyio import to_thread

from mcpguard.upstreams.sandbox.probe import Fails, Works, probed

log = structlog.get_logger("mcpguard")
_probed = cache(probed)


async def sandbox_here() -> Works | Fails:
    found = await to_thread.run_sync(_probed)
    if isinstance(found, Fails):
        log.warning(
            "sandbox.none", why=found.why, so="a server is started only if a person agrees to run it unconfined"
        )
    return found
