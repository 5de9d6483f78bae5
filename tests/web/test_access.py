"""Who may use which route, and how what they decide is recorded."""

from typing import Any

import pytest
from fastapi import APIRouter, Request

from mcpguard.domain.decisions import AGAIN, Actor, Forbidden, PasswordNeeded
from mcpguard.domain.people import Principal, Right, Role
from mcpguard.web.gate.access import OPEN, Needs, NobodyKnown, RightLacking, may
from mcpguard.web.gate.actors import actor
from mcpguard.web.gate.peer import OperatorPeer
from mcpguard.web.gate.sender import whoever
from mcpguard.web.gate.strict_routes import StrictRoute
from tests.world import World

pytestmark = pytest.mark.anyio
PEER = OperatorPeer(1, 0)


def principal(role: Role = Role.ADMIN, **more: Any) -> Principal:  # noqa: ANN401 - fields
    given: Any = {"kind": "user", "session": "s-1", "recent": True} | more
    return Principal("u-1", "ada", role, **given)


def asked(**state: object) -> Request:
    return Request({"type": "http", "method": "GET", "path": "/", "headers": [], "state": state})


@pytest.mark.parametrize("right", Right)
@pytest.mark.parametrize("role", Role)
async def test_a_principal_may_what_the_role_names_and_nothing_else(role: Role, right: Right) -> None:
    request = asked(principal=principal(role))
    if right in role.rights:
        await Needs(right)(request)
    else:
        with pytest.raises(RightLacking):
            await Needs(right)(request)


@pytest.mark.parametrize("right", Right)
async def test_the_peer_at_the_operators_socket_may_everything_and_nobody_nothing(right: Right) -> None:
    await Needs(right)(asked(peer=PEER))
    for state in ({}, {"peer": "uid:0"}, {"principal": "admin"}, {"principal": {"role": "admin"}}, {"principal": None}):
        request = asked(**state)
        assert whoever(request) is None
        with pytest.raises(NobodyKnown):
            await Needs(right)(request)
        await Needs(None)(request)


@pytest.mark.parametrize("wrong", [[], [may(Right.LOOK), may(Right.AUDIT)], [OPEN, may(Right.LOOK)]])
async def test_a_route_that_does_not_say_what_it_needs_cannot_be_made(wrong: list[Any]) -> None:
    router = APIRouter(route_class=StrictRoute)
    with pytest.raises(ValueError, match="values to unpack"):
        router.get("/", dependencies=wrong)(lambda: None)
    assert not router.routes


async def test_a_person_is_recorded_by_id_and_name_and_widens_with_a_fresh_password_only(guard: World) -> None:
    now = guard.now.guard
    assert actor(asked(principal=principal()), now) == Actor.with_full_rights("user:u-1 (ada)", "api")
    assert actor(asked(principal=principal(Role.APPROVER)), now, "console").via == "console"
    stale = actor(asked(principal=principal(recent=False)), now)
    with pytest.raises(PasswordNeeded, match=AGAIN):
        stale.check_widening()
    for role in (Role.VIEWER, Role.AUDITOR):
        with pytest.raises(Forbidden):
            actor(asked(principal=principal(role)), now).check_widening()


@pytest.mark.parametrize("role", Role)
async def test_an_operators_token_widens_by_its_role_alone(guard: World, role: Role) -> None:
    by = actor(asked(principal=principal(role, kind="token", session="", recent=False)), guard.now.guard)
    assert by.id == "token:u-1 (ada)"
    assert by.may_widen is (role in (Role.APPROVER, Role.ADMIN))
