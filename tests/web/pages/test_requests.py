"""What a caller asks for beside how it declares a server is shown to whoever reviews it: who asked, and that it is no
more than a request."""

import pytest

from mcpguard.cli.servers.server_tables import first_rows
from tests.web.pages.filling import reviewer
from tests.web.rest import API
from tests.web.reviewing import said
from tests.world import World

pytestmark = pytest.mark.anyio
HOSTILE = "<script>alert(1)</script>\u202enode"


async def requested(guard: World) -> None:
    now = guard.now.guard
    caller = now.callers.anonymous
    assert caller is not None
    asked = {"command": "true", "isolation": {"image": HOSTILE}, "oauth": {"scopes": ["read"]}}
    await now.managing.request(caller, "mine", asked)


@pytest.mark.parametrize("path", ["/servers/mine", "/servers/mine/configuration"])
async def test_it_is_on_the_pages_as_a_request(path: str, guard: World) -> None:
    await requested(guard)
    page = await (await reviewer(guard)).open(path)
    assert page.status == 200
    assert page.text.count("not in effect") == 2
    assert "<script>alert" not in page.answer.text
    assert "\\u202enode" in page.text
    assert "Requested by" in page.text


async def test_it_is_in_what_the_command_shows(guard: World) -> None:
    await requested(guard)
    server = said(await guard.operator.get(f"{API}/servers/mine"))
    rows = dict(first_rows(server))
    assert rows["requests isolation"].startswith('{"image":"<script>alert(1)</script>\\u202enode"}, requested by ')
    assert rows["requests oauth"].endswith("not in effect")
    assert rows["sandbox"].startswith("strict")
