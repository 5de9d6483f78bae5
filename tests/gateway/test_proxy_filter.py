"""A filter of the proxy tool's list: it leaves out, and shows nobody more than the list does."""

from pathlib import Path

import pytest

from mcpguard.proxy.annotations import META
from tests.gateway.guard_face import agent
from tests.gateway.proxy_tool import proxy, value
from tests.gateway.speaking import EVERYTHING, OTHER_TOKEN, TOKEN, callers, flushed, guarded, scope
from tests.simulators.script import Script

pytestmark = pytest.mark.anyio


async def test_a_filter_shows_what_the_list_shows_and_no_more(tmp_path: Path) -> None:
    script = Script()
    script.tool("sum", "done", _meta={"fastmcp": {"tags": ["math", "sums"]}})
    script.tool("product", "done", _meta={"fastmcp": {"tags": ["math"]}})
    narrow = callers(**{TOKEN: EVERYTHING, OTHER_TOKEN: scope("web", "product")})
    async with guarded(tmp_path, script, callers=narrow) as guard:
        plain = (await guard.client(token=TOKEN).request("tools/list", {})).result["tools"]
        cases: list[tuple[dict[str, object], list[str]]] = [
            ({"tags": ["math"]}, ["web::sum", "web::product"]),
            ({"tags": ["math", "sums"]}, ["web::sum"]),
            ({"prefix": "web::pro", "tags": ["math"]}, ["web::product"]),
            ({"prefix": "sum"}, ["web::sum"]),
            ({"prefix": "elsewhere"}, []),
        ]
        for token, within in ((TOKEN, {"web::sum", "web::product"}), (OTHER_TOKEN, {"web::product"})):
            async with agent(guard, token=token) as client:
                for chosen, names in cases:
                    result = await proxy(client, "list", "tool", filter=chosen)
                    wanted = [each for each in plain if each["name"] in within and each["name"] in names]
                    assert sorted(each["name"] for each in value(result)) == sorted(each["name"] for each in wanted)
                    assert all(each in plain for each in value(result))
                    assert result["_meta"][META]["total"] == len(wanted)
                part = await proxy(client, "list", "tool", filter='{"tags": ["math"]}', limit=1)
                assert part["_meta"][META].get("nextOffset") == (1 if len(within) > 1 else None)
        shown = [each["names"] for each in await flushed(guard, "disclosed") if each["method"] == "proxy list tool"]
        assert max(shown) == 2
