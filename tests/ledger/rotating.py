"""Whoever has a guard rotate its signing key."""

from mcpguard.domain.decisions import Actor, Decision
from mcpguard.guard.audit.key_rotation import KeyRotation
from tests.world import World

BY = Actor.with_full_rights("uid:1 (one)", "operator socket", "python (1)")
DECISION = Decision(BY, "a year is over")


async def rotated(guard: World) -> KeyRotation:
    return await guard.now.guard.rotating.rotate(DECISION)
