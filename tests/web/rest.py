"""The API on the network, for tests: who asks, and what they send."""

from collections.abc import Mapping
from functools import cache
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from fastapi import FastAPI

from mcpguard.domain.people import Role
from mcpguard.web.api.api_app import routes
from mcpguard.web.gate.strict_routes import PREFIX
from tests import people
from tests.clock import FakeClock
from tests.gate import Gate
from tests.world import World

if TYPE_CHECKING:
    from mcpguard.guard.guard import Guard

Json = dict[str, Any]
API = PREFIX


@cache
def bare() -> FastAPI:
    """The routes of no guard: what they are, and not what they do."""
    return routes(cast("Guard", SimpleNamespace(clock=FakeClock(), tallies=None)))


async def program(guard: World | Gate, role: Role = Role.ADMIN, name: str = "ci") -> dict[str, str]:
    """What a program sends that has an operator's token."""
    return people.bears(await people.token(guard, role, name))


async def browser(guard: World, role: Role = Role.ADMIN, name: str = "ada") -> dict[str, str]:
    """What the browser of somebody sends who has signed in just now."""
    await people.user(guard, name, role)
    return {**people.OURS, **people.shows(await people.cookie(guard, name))}


async def seen(guard: World, path: str, by: Mapping[str, str], **query: Any) -> dict[str, str]:  # noqa: ANN401 - JSON
    """What to send with a decision about what is shown there now."""
    shown = await guard.network.get(API + path, params=query, headers=by)
    assert shown.status_code == 200, shown.text
    return {**by, "if-match": shown.headers["etag"]}
