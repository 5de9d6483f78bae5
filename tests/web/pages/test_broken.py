"""A page that fails on our side says where to look, and nothing of what failed."""

import logging

import httpx2
import pytest

from mcpguard.guard.review.inbox import Inbox
from tests import people
from tests.web.pages.reading import heading
from tests.web.raw import app_of
from tests.world import World

pytestmark = pytest.mark.anyio


async def test_it_says_where_to_look_and_nothing_of_what_failed(
    guard: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    await people.user(guard)
    headers = people.shows(await people.cookie(guard))

    def fails(_: Inbox) -> None:
        raise ZeroDivisionError("a secret of ours")

    monkeypatch.setattr(Inbox, "every", fails)
    transport = httpx2.ASGITransport(app_of(guard.network), raise_app_exceptions=False)
    with caplog.at_level(logging.CRITICAL):
        async with httpx2.AsyncClient(transport=transport, base_url=str(guard.network.base_url)) as client:
            answer = await client.get("/", headers=headers)
    assert (answer.status_code, heading(answer)) == (500, "Something went wrong")
    assert answer.headers["x-request-id"] in answer.text
    assert "a secret of ours" not in answer.text
    assert "ZeroDivision" not in answer.text
