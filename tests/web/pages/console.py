"""Somebody at the console of a guard in this process: what they open, what they send, and what they are told."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx2

from mcpguard.domain.people import Role
from tests import people
from tests.web.pages.reading import hidden
from tests.world import World

Json = dict[str, Any]
OLD = 901
"""Seconds after which a password was not given a moment ago."""


@dataclass
class Browser:
    """A browser in which somebody has signed in; it shows what it was given last."""

    guard: World
    shown: str

    async def get(self, path: str, **query: str) -> httpx2.Response:
        return self._taken(await self.guard.network.get(path, params=query or None, headers=self._headers()))

    async def post(self, path: str, **sent: str | list[str]) -> httpx2.Response:
        return self._taken(await self.guard.network.post(path, data=sent, headers=self._headers()))

    async def told(self, answer: httpx2.Response) -> httpx2.Response:
        """The page that an answer leads to."""
        assert answer.status_code == 303, answer.text
        return await self.get(answer.headers["location"])

    async def sent(self, path: str, form: str, **sent: str | list[str]) -> httpx2.Response:
        """A form of this page, with the number that it has."""
        return await self.post(path, once=hidden(await self.get(form), "once"), **sent)

    def _headers(self) -> dict[str, str]:
        self.guard.network.cookies.clear()
        return {**people.OURS, **people.shows(self.shown)}

    def _taken(self, answer: httpx2.Response) -> httpx2.Response:
        self.shown = answer.cookies.get("mcpguard_session") or self.shown
        return answer


async def browser(guard: World, role: Role = Role.ADMIN, name: str = "ada") -> Browser:
    """Somebody who has signed in just now."""
    if guard.now.guard.people.user(name) is None:
        await people.user(guard, name, role)
    return Browser(guard, await people.cookie(guard, name))


@asynccontextmanager
async def nothing_happens(guard: World) -> AsyncIterator[None]:
    """While the block runs, no record is left but that somebody signed in or was turned away."""
    before = [record["seq"] for record in records(guard)]
    yield
    assert [record["seq"] for record in records(guard)] == before, "and nothing happened"


def records(guard: World, *kinds: str) -> list[Json]:
    """What was done; of these kinds, if any are named."""
    coming = ("signed_in", "signed_out", "sign_in_refused", "turned_away", "disclosed")
    return [each for each in guard.said() if (each["kind"] in kinds if kinds else each["kind"] not in coming)]
