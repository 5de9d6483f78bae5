"""The people who may sign in, their sessions, and the link by which the first of them is made."""

from collections import Counter
from typing import Annotated, Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse
from pydantic import Field, SecretStr

from mcpguard.domain.decisions import Decision, Forbidden
from mcpguard.domain.people import Principal, Right, Role, Session, User
from mcpguard.guard.guard import Guard
from mcpguard.guard.people.first_user import SECONDS
from mcpguard.web.api.answers import PersonAnswer, SessionsAnswer, SetupLinkAnswer, UsersAnswer
from mcpguard.web.api.bodies import ApiBody, Text
from mcpguard.web.api.pages import Cursor, Limit, page
from mcpguard.web.gate.access import may, whoever
from mcpguard.web.gate.actors import actor, peer_of
from mcpguard.web.gate.strict_routes import api_router

Password = Annotated[SecretStr, Field(max_length=1024)]


class OptionalWhyBody(ApiBody):
    """A change that is nothing but its reason, which may be left out."""

    why: Text = ""


class UserAddedBody(OptionalWhyBody):
    """Somebody who is let in."""

    name: str
    role: Role
    password: Password


class PasswordGivenBody(OptionalWhyBody):
    """Another password of somebody."""

    password: Password


class OwnPasswordGivenBody(ApiBody):
    """Another password of one's own, and the one that one has."""

    present: Password
    password: Password


class RoleGivenBody(OptionalWhyBody):
    """Another role of somebody."""

    role: Role


def people(guard: Guard) -> APIRouter:
    router = api_router("people")
    administer = [may(Right.ADMINISTER)]

    @router.get("/users", dependencies=administer, response_model=UsersAnswer)
    async def users(limit: Limit = 100, cursor: Cursor = None) -> JSONResponse:
        """Everybody who may sign in, or might once, by name."""
        open_ = Counter(session.user for session in guard.people.sessions())
        found, after = page([*guard.people.users()], lambda user: user.name, limit, cursor)
        return JSONResponse({"users": [_user(user, open_[user.id]) for user in found], "next": after})

    @router.post("/users", dependencies=administer, response_model=PersonAnswer, status_code=201)
    async def add(request: Request, body: UserAddedBody) -> JSONResponse:
        """Let somebody in."""
        password = body.password.get_secret_value()
        user = await guard.users.add(body.name, body.role, password, because(request, guard, body))
        return JSONResponse(_user(user, 0), 201)

    @router.post("/users/{user}/password", dependencies=administer, response_model=PersonAnswer)
    async def password(request: Request, user: str, body: PasswordGivenBody) -> JSONResponse:
        """Give somebody another password. They are signed out everywhere."""
        given = body.password.get_secret_value()
        return _shown(guard, await guard.users.password(user, given, because(request, guard, body)))

    @router.post("/users/{user}/role", dependencies=administer, response_model=PersonAnswer)
    async def role(request: Request, user: str, body: RoleGivenBody) -> JSONResponse:
        """Give somebody another role."""
        return _shown(guard, await guard.users.role(user, body.role, because(request, guard, body)))

    @router.post("/users/{user}/disable", dependencies=administer, response_model=PersonAnswer)
    async def disable(request: Request, user: str, body: OptionalWhyBody) -> JSONResponse:
        """Let somebody in no longer. They are signed out everywhere."""
        return _shown(guard, await guard.users.disable(user, because(request, guard, body)))

    @router.post("/users/{user}/enable", dependencies=administer, response_model=PersonAnswer)
    async def enable(request: Request, user: str, body: OptionalWhyBody) -> JSONResponse:
        """Let somebody sign in again."""
        return _shown(guard, await guard.users.enable(user, because(request, guard, body)))

    @router.post("/users/{user}/sign-out", dependencies=administer, response_model=PersonAnswer)
    async def sign_out(request: Request, user: str, body: OptionalWhyBody) -> JSONResponse:
        """End all sessions of somebody."""
        return _shown(guard, await guard.users.sign_out(user, because(request, guard, body)))

    return router


def sessions(guard: Guard) -> APIRouter:
    router = api_router("people")
    administer = [may(Right.ADMINISTER)]

    @router.get("/sessions", dependencies=administer, response_model=SessionsAnswer)
    async def every(limit: Limit = 100, cursor: Cursor = None) -> JSONResponse:
        """Who is signed in, and where; the oldest first."""
        found, after = page([*guard.people.sessions()], _begun, limit, cursor)
        return JSONResponse({"sessions": [_session(guard, session) for session in found], "next": after})

    @router.post("/sessions/{session}/end", dependencies=administer, response_model=PersonAnswer)
    async def end(request: Request, session: str, body: OptionalWhyBody) -> JSONResponse:
        """End one session. The answer is whose it was."""
        return _shown(guard, await guard.users.end_session(session, because(request, guard, body)))

    @router.post("/me/password", dependencies=[may(Right.LOOK)], response_model=PersonAnswer)
    async def own_password(request: Request, body: OwnPasswordGivenBody) -> JSONResponse:
        """Change one's own password, giving the present one. One's other sessions end. Programs have none."""
        me, by = whoever(request), actor(request, guard)
        if not isinstance(me, Principal):
            raise Forbidden("nobody has signed in here; mcpguard user passwd gives somebody another password")
        present, password = (each.get_secret_value() for each in (body.present, body.password))
        return _shown(guard, await guard.own_password.change(me, present, password, peer_of(request), by))

    @router.post("/setup-link", dependencies=administer, response_model=SetupLinkAnswer, status_code=201)
    async def setup_link(request: Request, body: OptionalWhyBody) -> JSONResponse:
        """Make the link by which the first admin chooses a password, as long as nobody was ever let in."""
        key = await guard.setting_up.offer(because(request, guard, body))
        said = {"url": guard.setting_up.url(key), "seconds": SECONDS}
        return JSONResponse(said, 201, headers={"cache-control": "no-store"})

    return router


def _begun(session: Session) -> str:
    """By when they began; an id settles it where that is the same."""
    return f"{session.created_at:020}{session.id}"


def because(request: Request, guard: Guard, body: OptionalWhyBody) -> Decision:
    """Who decides, and why they say they do."""
    return Decision(actor(request, guard), body.why)


def _shown(guard: Guard, user: User) -> JSONResponse:
    return JSONResponse(_user(user, sum(1 for _ in guard.people.sessions(user))))


def _user(user: User, sessions: int) -> dict[str, Any]:
    return {
        "id": user.id,
        "name": user.name,
        "role": user.role,
        "standing": "disabled" if user.disabled else "active",
        "sessions": sessions,
        "created_at": user.created_at,
        "created_by": user.created_by,
    }


def _session(guard: Guard, session: Session) -> dict[str, Any]:
    user = guard.people.user_of(session.user)
    return {
        "id": session.id,
        "user": user.name if user else "",
        "created_at": session.created_at,
        "used_at": session.used_at,
        "password_at": session.password_at,
        "peer": session.peer,
    }
