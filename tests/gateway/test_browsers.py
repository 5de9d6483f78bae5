"""Pages of other sites, and names that are not ours, get nothing. No answer lets a page read what it should not."""

from pathlib import Path

import pytest

from tests.gate import DIRECT
from tests.gateway.speaking import TOKEN, callers, guarded, nothing_happens, scope, turned_away
from tests.gateway.wires import mirrored, modern, post, wire
from tests.simulators.script import Script

pytestmark = pytest.mark.anyio
CALL = modern("tools/call", {"name": "web::echo", "arguments": {}})
FOREIGN = [
    "null",
    "",
    "file://",
    "https://guard.example",
    "http://127.0.0.1",
    "http://localhost:1",
    "http://localhost:{port}",
    "https://127.0.0.1:{port}",
    "http://127.0.0.1:{port}/",
    "http://127.0.0.1:{port}.evil.example",
    "http://evil.example, http://127.0.0.1:{port}",
    "http://user@127.0.0.1:{port}",
]
METHODS = ("GET", "POST", "DELETE", "OPTIONS", "PUT")


async def test_pages_of_other_sites_get_nothing_whatever_they_know(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script, callers=callers(**{TOKEN: scope()})) as guard:
        port = guard.where.url.rpartition(":")[2]
        legacy = await guard.legacy(token=TOKEN)
        foreign = [{"origin": origin.format(port=port)} for origin in FOREIGN]
        foreign += [{"sec-fetch-site": site} for site in ("cross-site", "same-site", "", "Same-Origin", "x")]
        foreign += [{"origin": f"http://127.0.0.1:{port}", "sec-fetch-site": "cross-site"}]
        with nothing_happens(guard, script):
            for headers in foreign:
                for method in METHODS:
                    said = legacy.headers_for(None) | headers
                    response = await guard.http.request(method, legacy.url, headers=said, content=b"{}")
                    assert response.status_code == 403, (method, headers)
                    assert not [name for name in response.headers if name.startswith("access-control-")]
        assert (await turned_away(guard)) == {("network", "origin"): len(foreign) * len(METHODS)}


async def test_our_own_pages_and_programs_are_let_in(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script) as guard:
        port = guard.where.url.rpartition(":")[2]
        for name in ("127.0.0.1", "localhost", "[::1]"):
            ours = {"origin": f"http://{name}:{port}", "host": f"{name}:{port}"}
            for site in ({}, {"sec-fetch-site": "same-origin"}, {"sec-fetch-site": "none"}):
                assert (await post(guard, CALL, mirrored(CALL) | ours | site))[0] == 200
            assert (await post(guard, CALL, mirrored(CALL) | ours | {"origin": ours["origin"].upper()}))[0] == 200
        reply = await guard.client().call("web::echo", {})
        assert not [name for name in reply.headers if name.startswith("access-control-")]


async def test_two_origins_are_none(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script) as guard:
        ours = f"http://{guard.where.url.partition('//')[2]}"
        with nothing_happens(guard, script):
            for one, other in ((ours, "http://evil.example"), ("http://evil.example", ours), (ours, ours)):
                assert (await post(guard, CALL, mirrored(CALL), ("Origin", one), ("origin", other)))[0] == 400
            sites = ("Sec-Fetch-Site", "none"), ("Sec-Fetch-Site", "cross-site")
            assert (await post(guard, CALL, mirrored(CALL), *sites))[0] == 400


async def test_under_a_name_that_is_not_ours_nothing_is_here(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script) as guard:
        port = guard.where.url.rpartition(":")[2]
        foreign = ["evil.example", f"evil.example:{port}", "127.0.0.1", f"localhost.:{port}", f"127.0.0.1:{port}@x"]
        with nothing_happens(guard, script):
            for host in foreign:
                for path in (DIRECT, "/mcp/only/web", "/mcp"):
                    async with wire(guard) as connection:
                        await connection.post(CALL, mirrored(CALL) | {"host": host}, path)
                        assert (await connection.answer_head())[0] == 421
