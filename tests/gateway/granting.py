"""People who give agents tokens and take them back, in tests of what agents notice of that."""

from dataclasses import dataclass

from mcpguard.domain.capabilities import Effect
from mcpguard.domain.grants import Grant
from mcpguard.guard.callers.grants import CallerRequest
from tests.gate import Gate
from tests.gateway.speaking import scope
from tests.review import DECISION


@dataclass(frozen=True)
class Granted:
    """A caller and the token it was given."""

    grant: Grant
    token: str

    @property
    def id(self) -> str:
        return self.grant.caller.id


async def granted(
    guard: Gate,
    label: str = "agent",
    servers: str = "*",
    tools: str = "*",
    *effects: Effect,
    seconds: int | None = None,
    manage: bool = False,
) -> Granted:
    """A caller with this scope; everything, if nothing is said."""
    wanted = CallerRequest(label, scope(servers, tools, *effects), seconds, manage=manage)
    return Granted(*await guard.now.guard.granting.add(wanted, DECISION))


async def revoked(guard: Gate, caller: Granted) -> None:
    await guard.now.guard.granting.revoke(caller.id, DECISION)


async def over(guard: Gate, caller: Granted) -> None:
    """Let its time be over."""
    assert caller.grant.expires_at is not None
    await guard.clock.advance((caller.grant.expires_at - guard.clock.now()) / 1e6 + 1)
