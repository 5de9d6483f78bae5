"""Grave findings in a poisoned server, and approvals over REST that say, or do not say, which of them were read."""

from typing import Any

from mcpguard.domain.capabilities import CapabilityKind
from tests.web.reviewing import SERVERS, WHY, Json, said, seen, show
from tests.world import World

FORECAST = (CapabilityKind.TOOL, "forecast")


def rules(server: Json, name: str) -> list[str]:
    """Of the grave findings in one of its tools."""
    (found,) = (each["findings"] for each in server["capabilities"] if each["name"] == name)
    return sorted({each["rule"] for each in found if each["hard"] or each["severity"] in ("high", "critical")})


def one(server: Json, name: str) -> Json:
    (found,) = (each for each in server["capabilities"] if each["name"] == name)
    return dict(found)


async def approve(guard: World, name: str = "weather", **more: Any) -> Json:  # noqa: ANN401 - JSON
    body = {"why": WHY, "seen": seen(await show(guard, name)), **more}
    return dict(said(await guard.operator.post(f"{SERVERS}/{name}/approve", json=body)))
