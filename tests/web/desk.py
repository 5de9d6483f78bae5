"""Somebody at the API of a whole guard: its listener is real, and so are the servers behind it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx2

from mcpguard.domain.callers import Scope
from mcpguard.domain.people import Role
from mcpguard.guard.callers.grants import CallerRequest
from tests.gate import Gate
from tests.gateway.speaking import EVERYTHING
from tests.people import BY, bears
from tests.web.rest import API, Json
from tests.web.reviewing import said


@dataclass
class Desk:
    """Who sits there, and what they send with everything."""

    guard: Gate
    headers: Mapping[str, str]

    async def send(self, method: str, path: str, **more: Any) -> httpx2.Response:  # noqa: ANN401 - of the client
        headers = {**self.headers, **more.pop("headers", {})}
        return await self.guard.http.request(method, self.guard.where.url + API + path, headers=headers, **more)

    async def post(self, path: str, body: object, **headers: str) -> httpx2.Response:
        return await self.send("POST", path, json=body, headers=headers)

    async def get(self, path: str, **query: Any) -> Json:  # noqa: ANN401 - of the client
        found: Json = said(await self.send("GET", path, params=query))
        return found

    async def call(self, name: str, arguments: Json | None = None, caller: str = "agent", **more: Any) -> Json:  # noqa: ANN401 - JSON
        """How a call ended that is made in the name of a caller."""
        body = {"caller": caller, "name": name, **({} if arguments is None else {"arguments": arguments}), **more}
        ended: Json = said(await self.post("/call", body))
        return ended


async def desk(guard: Gate, role: Role = Role.ADMIN) -> Desk:
    """A program with an operator's token."""
    _, token = await guard.now.guard.operators.add(f"ci-{role}", role, None, BY)
    return Desk(guard, bears(token))


async def granted(guard: Gate, name: str = "agent", scope: Scope = EVERYTHING, **more: Any) -> tuple[str, str]:  # noqa: ANN401 - fields
    """A caller: its id and its token."""
    grant, token = await guard.now.guard.granting.add(CallerRequest(name, scope, **more), BY)
    return grant.caller.id, token
