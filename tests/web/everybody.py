"""Everybody who may come to the API, with the rights that they have, and all that a decision of theirs could change."""

from collections.abc import Awaitable, Callable
from typing import Any

from mcpguard.domain.people import Right, Role
from tests import people
from tests.web.rest import API, browser, program
from tests.web.reviewing import DECIDED, show
from tests.world import World

Sends = Callable[[World], Awaitable[dict[str, str]]]


async def nobody(_: World) -> dict[str, str]:
    return {}


async def agent(guard: World) -> dict[str, str]:
    """An agent with the widest scope that there is."""
    body = {"name": "agent", "effects": ["read", "write", "destructive"], "manage": True}
    added = (await guard.operator.post(f"{API}/callers", json=body)).json()
    return people.bears(added["token"])


def by_token(role: Role) -> Sends:
    return lambda guard: program(guard, role)


def by_cookie(role: Role) -> Sends:
    return lambda guard: browser(guard, role)


EVERYBODY: dict[str, tuple[Sends, frozenset[Right]]] = {
    "nobody": (nobody, frozenset()),
    "an agent": (agent, frozenset()),
    **{f"{role} by token": (by_token(role), role.rights) for role in Role},
    **{f"{role} by cookie": (by_cookie(role), role.rights) for role in Role},
}


async def standing(guard: World) -> tuple[Any, ...]:
    """Whatever a decision could change, and every record but that somebody was turned away."""
    now, server = guard.now.guard, await show(guard)
    return (
        {key: server[key] for key in DECIDED},
        [known.name for known in now.servers.every()],
        now.granting.callers_json(),
        [*now.people.users()],
        [token.id for token in now.people.tokens()],
        now.confirming.unconfirmed,
        [record["seq"] for record in guard.said() if record["kind"] not in ("turned_away", "disclosed")],
    )
