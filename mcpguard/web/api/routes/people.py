"""Routes of users, their sessions, and the setup link for the first user."""

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
from mcpguard.web.gate.access import may
from mcpguard.web.gate.actors import actor, peer_of
from mcpguard.web.gate.sender import whoever
from mcpguard.web.gate.strict_routes import api_router

Password = Annotated[SecretStr, Field(max_length=1024)]


class OptionalWhyBody(ApiBody):
    """The reason of a change, which may be left out."""

    why: Text = ""


class UserAddedBody(OptionalWhyBody):
    """A user to add."""

    name: str
    role: Role
    password: Password


class PasswordGivenBody(OptionalWhyBody):
    """A new password for a user."""

    password: Password


class OwnPasswordGivenBody(ApiBody):
    """A new password of the sender, and the current one (`present`)."""

    present: Password
    password: Password


class RoleGivenBody(OptionalWhyBody):
    """A new role for a user."""

    role: Role


def people(guard: Guard) -> APIRouter:
    router = api_router("people")
    administer = [may(Right.ADMINISTER)]

    @router.get("/users", dependencies=administer, response_model=UsersAnswer)
    async def users(limit: Limit = 100, cursor: Cursor = None) -> JSONResponse:
        """List all users, also disabled ones, by name."""
        open_ = Counter(session.user for session in guard.people.sessions())
        found, after = page([*guard.people.users()], lambda user: user.name, limit, cursor)
        return JSONResponse({"users": [_user(user, open_[user.id]) for user in found], "next": after})

    @router.post("/users", dependencies=administer, response_model=PersonAnswer, status_code=201)
    async def add(request: Request, body: UserAddedBody) -> JSONResponse:
        """Add a user with a role and a first password."""
        password = body.password.get_secret_value()
        user = await guard.users.add(body.name, body.role, password, because(request, guard, body))
        return JSONResponse(_user(user, 0), 201)

    @router.post("/users/{user}/password", dependencies=administer, response_model=PersonAnswer)
    async def password(request: Request, user: str, body: PasswordGivenBody) -> JSONResponse:
        """Reset the password of a user. All sessions of the user end."""
        given = body.password.get_secret_value()
        return _shown(guard, await guard.users.password(user, given, because(request, guard, body)))

    @router.post("/users/{user}/role", dependencies=administer, response_model=PersonAnswer)
    async def role(request: Request, user: str, body: RoleGivenBody) -> JSONResponse:
        """Change the role of a user."""
        return _shown(guard, await guard.users.role(user, body.role, because(request, guard, body)))

    @router.post("/users/{user}/disable", dependencies=administer, response_model=PersonAnswer)
    async def disable(request: Request, user: str, body: OptionalWhyBody) -> JSONResponse:
        """Disable a user. All sessions of the user end."""
        return _shown(guard, await guard.users.disable(user, because(request, guard, body)))

    @router.post("/users/{user}/enable", dependencies=administer, response_model=PersonAnswer)
    async def enable(request: Request, user: str, body: OptionalWhyBody) -> JSONResponse:
        """Enable a user that was disabled."""
        return _shown(guard, await guard.users.enable(user, because(request, guard, body)))

    @router.post("/users/{user}/sign-out", dependencies=administer, response_model=PersonAnswer)
    async def sign_out(request: Request, user: str, body: OptionalWhyBody) -> JSONResponse:
        """End all sessions of a user."""
        return _shown(guard, await guard.users.sign_out(user, because(request, guard, body)))

    return router


def sessions(guard: Guard) -> APIRouter:
    router = api_router("people")
    administer = [may(Right.ADMINISTER)]

    @router.get("/sessions", dependencies=administer, response_model=SessionsAnswer)
    async def every(limit: Limit = 100, cursor: Cursor = None) -> JSONResponse:
        """List the open sessions, the oldest first."""
        found, after = page([*guard.people.sessions()], _begun, limit, cursor)
        return JSONResponse({"sessions": [_session(guard, session) for session in found], "next": after})

    @router.post("/sessions/{session}/end", dependencies=administer, response_model=PersonAnswer)
    async def end(request: Request, session: str, body: OptionalWhyBody) -> JSONResponse:
        """End one session. The answer is its user."""
        return _shown(guard, await guard.users.end_session(session, because(request, guard, body)))

    @router.post("/me/password", dependencies=[may(Right.LOOK)], response_model=PersonAnswer)
    async def own_password(request: Request, body: OwnPasswordGivenBody) -> JSONResponse:
        """Change the password of the sender, who must give the current one. All other sessions of the user end."""
        me, by = whoever(request), actor(request, guard)
        if not isinstance(me, Principal):
            raise Forbidden(
                "this needs a signed-in user; at the operator's socket, reset the password of a user instead"
            )
        present, password = (each.get_secret_value() for each in (body.present, body.password))
        return _shown(guard, await guard.own_password.change(me, present, password, peer_of(request), by))

    @router.post("/setup-link", dependencies=administer, response_model=SetupLinkAnswer, status_code=201)
    async def setup_link(request: Request, body: OptionalWhyBody) -> JSONResponse:
        """Create the setup link for the first admin, as long as no user was ever added."""
        key = await guard.setting_up.offer(because(request, guard, body))
        said = {"url": guard.setting_up.url(key), "seconds": SECONDS}
        return JSONResponse(said, 201, headers={"cache-control": "no-store"})

    return router


def _begun(session: Session) -> str:
    """Return the sort key of a session: its start, then its id."""
    return f"{session.created_at:020}{session.id}"


def because(request: Request, guard: Guard, body: OptionalWhyBody) -> Decision:
    """Make the decision of a request: its actor and reason."""
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
