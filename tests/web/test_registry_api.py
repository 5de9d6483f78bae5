"""The approved servers as an MCP registry: what the published description of its API says, and nothing that is not
approved."""

import json
from base64 import b64decode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from hypothesis import given
from hypothesis import strategies as st
from jsonschema_rs import Draft202012Validator

from mcpguard.domain.callers import Caller, Scope
from mcpguard.domain.capabilities import CapabilityKind, Effect
from mcpguard.domain.decisions import Answer
from mcpguard.guard.audit.approved_servers import signed_text
from mcpguard.web.registry_api import OFFICIAL, PREFIX, reverse_dns
from tests import review
from tests.gate import Gate, gate
from tests.gateway.speaking import EVERYTHING, callers, played, turned_away
from tests.simulators.script import Script

pytestmark = pytest.mark.anyio
PUBLISHED = json.loads((Path(__file__).parent / "mcp_registry_api.json").read_text())
URL, NAMES = "https://guard.example", ("files", "notes", "web")
SOME = Scope(("no*",), ("*",), frozenset({Effect.READ}))
KNOWN = {**callers(everything=EVERYTHING), "narrow": Caller("narrow", "narrow", SOME)}
NARROW, ALL = {"authorization": "Bearer narrow"}, {"authorization": "Bearer everything"}


@asynccontextmanager
async def registry(folder: Path, *names: str, **settings: Any) -> AsyncIterator[Gate]:  # noqa: ANN401 - settings
    """A guard that tells of these approved servers."""
    settings = {"registry__enabled": True, "public_url": URL, **settings}
    async with played(folder, Script(), "first") as server:
        every = [server.__class__(name, name, server.launch) for name in names or NAMES]
        async with gate(folder, *every, callers=KNOWN, **settings) as guard:
            yield guard


async def asked(guard: Gate, path: str = "", method: str = "GET", **headers: str) -> httpx2.Response:
    headers = ALL | headers
    return await guard.http.request(method, f"{guard.where.url}{PREFIX}{path}", headers=headers)


async def told(guard: Gate, path: str = "", **headers: str) -> Any:  # noqa: ANN401 - JSON
    answer = await asked(guard, path, **headers)
    assert answer.status_code == 200, answer.text
    return answer.json()


def names(page: Any) -> list[str]:  # noqa: ANN401 - JSON
    return [each["server"]["name"] for each in page["servers"]]


def valid(said: Any, schema: str) -> None:  # noqa: ANN401 - JSON
    """Hold an answer against the published description."""
    wanted = {"$ref": f"#/components/schemas/{schema}", "components": PUBLISHED["components"]}
    Draft202012Validator(wanted, validate_formats=True).validate(said)


async def test_answers_are_as_the_public_registry_describes_them(tmp_path: Path) -> None:
    async with registry(tmp_path) as guard:
        page = await told(guard)
        valid(page, "ServerList")
        assert names(page) == [f"example.guard/{name}" for name in NAMES]
        one = page["servers"][1]
        assert one["server"]["remotes"] == [{"type": "streamable-http", "url": f"{URL}/mcp/only/notes"}]
        assert one["_meta"][OFFICIAL]["status"] == "active"
        for path in ("example.guard/notes", quote("example.guard/notes", safe="")):
            versions = await told(guard, f"/{path}/versions")
            valid(versions, "ServerList")
            latest = await told(guard, f"/{path}/versions/latest")
            valid(latest, "ServerResponse")
            version = await told(guard, f"/{path}/versions/{one['server']['version']}")
            assert versions["servers"] == [one] == [latest] == [version]


async def test_pages_of_a_list_join_to_all_of_it(tmp_path: Path) -> None:
    async with registry(tmp_path) as guard:
        found, cursor = [], ""
        while True:
            page = await told(guard, f"?limit=1&cursor={quote(cursor)}" if cursor else "?limit=1")
            found += names(page)
            if (cursor := page["metadata"].get("nextCursor", "")) == "":
                break
        assert found == names(await told(guard))
        assert names(await told(guard, "?search=NOTE")) == ["example.guard/notes"]
        assert names(await told(guard, "?search=example.guard/w")) == ["example.guard/web"]
        assert names(await told(guard, "?version=2.0.0")) == []
        assert names(await told(guard, "?updated_since=2999-01-01T00:00:00Z")) == []
        assert len(names(await told(guard, "?updated_since=2000-01-01T00:00:00%2B01:00"))) == 3


@pytest.mark.parametrize(
    "query",
    ["limit=0", "limit=-1", "limit=many", "limit=9999999", "updated_since=yesterday", "updated_since=2026-01-01"],
)
async def test_what_cannot_be_understood_is_told(tmp_path: Path, query: str) -> None:
    async with registry(tmp_path, "web") as guard:
        answer = await asked(guard, f"?{query}")
        assert answer.status_code == 400
        assert query.partition("=")[0] in answer.json()["error"]


async def test_what_is_withdrawn_is_gone_at_once(tmp_path: Path) -> None:
    async with registry(tmp_path) as guard:
        before = (await told(guard))["servers"][1]["server"]["version"]
        await guard.now.guard.decisions.block("notes", review.DECISION)
        assert names(await told(guard)) == ["example.guard/files", "example.guard/web"]
        for path in ("versions", "versions/latest", f"versions/{before}"):
            assert (await asked(guard, f"/example.guard/notes/{path}")).status_code == 404
        for query in ("?include_deleted=true", "?updated_since=2000-01-01T00:00:00Z"):
            page = await told(guard, query)
            valid(page, "ServerList")
            gone = next(each for each in page["servers"] if each["server"]["name"] == "example.guard/notes")
            assert gone["_meta"][OFFICIAL]["status"] == "deleted"
            assert "remotes" not in gone["server"]


async def test_the_version_changes_with_what_is_approved(tmp_path: Path) -> None:
    async with registry(tmp_path, "web") as guard:
        first = (await told(guard))["servers"][0]
        assert (await told(guard))["servers"][0] == first
        echo = guard.now.guard.servers.every()[0].pin((CapabilityKind.TOOL, "echo"))
        key = echo.kind, echo.name
        await guard.now.guard.decisions.decide("web", key, Answer.BLOCK, echo.listed, review.DECISION)
        second = (await told(guard))["servers"][0]
        assert first["server"]["version"] != second["server"]["version"]
        assert "echo" in first["server"]["description"]
        assert "echo" not in second["server"]["description"]


async def test_an_approval_is_signed_by_the_key_of_the_audit_log(tmp_path: Path) -> None:
    async with registry(tmp_path, "web") as guard:
        one = (await told(guard))["servers"][0]
        proof = one["_meta"]["example.guard/approval"]
        assert proof["key"] == guard.now.guard.signing_key.public
        key = Ed25519PublicKey.from_public_bytes(b64decode(proof["key"]))
        said = {name: proof[name] for name in ("fingerprint", "approvedAt")}
        key.verify(bytes.fromhex(proof["signature"]), signed_text(one["server"], said))
        decided = [each["at"] for each in guard.said() if each["kind"] == "decided"]
        assert proof["approvedAt"] in decided


async def test_an_agent_sees_what_is_in_its_scope(tmp_path: Path) -> None:
    async with registry(tmp_path) as guard:
        assert names(await told(guard, **NARROW)) == ["example.guard/notes"]
        assert (await asked(guard, "/example.guard/web/versions/latest", **NARROW)).status_code == 404
        assert names(await told(guard, "?include_deleted=true", **NARROW)) == ["example.guard/notes"]


WRONG = ({"authorization": ""}, {"authorization": "Bearer wrong"}, {"authorization": "Basic x"})


async def test_nobody_reads_it_without_a_token(tmp_path: Path) -> None:
    async with registry(tmp_path, "web") as guard:
        for headers in WRONG:
            answer = await asked(guard, **headers)
            assert (answer.status_code, "web" in answer.text) == (401, False)
        assert (await guard.http.get(f"{guard.where.url}{PREFIX}")).status_code == 401
        assert await turned_away(guard) == {("network", "credential"): 4}


async def test_a_person_may_say_that_everybody_reads_it(tmp_path: Path) -> None:
    async with registry(tmp_path, "web", registry__public=True) as guard:
        assert (await guard.http.get(f"{guard.where.url}{PREFIX}")).status_code == 200
        for headers in WRONG:
            assert (await asked(guard, **headers)).status_code == 401, "a wrong token is never none"


async def test_it_is_off_unless_set(tmp_path: Path) -> None:
    async with registry(tmp_path, "web", registry__enabled=False, registry__public=True) as guard:
        answer = await asked(guard)
        assert answer.status_code in (401, 404)
        assert "example.guard" not in answer.text


async def test_programs_in_browsers_may_ask(tmp_path: Path) -> None:
    async with registry(tmp_path, "web") as guard:
        before = await asked(guard, method="OPTIONS", origin="https://github.com")
        assert before.status_code == 204
        for answer in (before, await asked(guard, origin="https://github.com"), await asked(guard, "/x")):
            assert answer.headers["access-control-allow-origin"] == "*"
            assert "access-control-allow-credentials" not in answer.headers
            assert answer.headers["access-control-allow-headers"] == "Authorization, Content-Type"
            assert answer.headers["cache-control"] == "no-store"
        assert (await asked(guard, method="POST")).status_code == 405


@pytest.mark.parametrize(
    ("url", "namespace"),
    [
        ("https://guard.example", "example.guard"),
        ("https://mcp.tools.example:8443", "example.tools.mcp"),
        ("http://127.0.0.1:8080", "127.0.0.1"),
        ("https://[2001:db8::1]", "2001-db8--1"),
        ("http://localhost:8080", "localhost"),
    ],
)
async def test_servers_are_named_after_the_guard(url: str, namespace: str) -> None:
    assert reverse_dns(url) == namespace


@given(st.text(st.characters(categories=["Ll", "Nd"], codec="ascii"), min_size=1, max_size=20))
def test_every_name_is_one_that_a_registry_takes(label: str) -> None:
    said = {"name": f"{reverse_dns(f'https://{label}.example')}/web", "description": "x", "version": "1"}
    valid(said, "ServerDetail")
