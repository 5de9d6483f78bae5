"""Beside an error that looks as if a sandbox had caused it stands how it is with the server; beside no other."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from mcpguard.domain.servers.launches import DeclaredServer, Profile, StdioLaunch
from mcpguard.domain.servers.needs import CONFINED, Need
from mcpguard.policy.denials import need_phrases
from tests.attacks.sandboxed import works
from tests.gate import Gate, gate
from tests.gateway.hearing import until
from tests.gateway.needy import needy, texts
from tests.gateway.speaking import HOWS, speaking
from tests.review import DECISION, approved_as_listed, taken_in

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def guarding(folder: Path, declared: DeclaredServer) -> AsyncIterator[Gate]:
    """A guard in front of this server, which runs confined as it is declared."""
    works()
    async with gate(folder) as guard:
        await guard.declare(declared)
        agreed = declared.sandbox is Profile.NONE
        done = await guard.now.guard.inspecting.inspect("web", DECISION, consent=agreed, give=frozenset())
        assert not done.error
        await approved_as_listed(guard.now, "web")
        await taken_in(guard.now, ["web"])
        yield guard


@pytest.mark.parametrize("how", HOWS)
async def test_an_error_of_a_server_without_network_says_so_beside_it(how: str, tmp_path: Path) -> None:
    async with guarding(tmp_path, needy()) as guard, speaking(guard, how) as client:
        result = (await client.call("web::resolve")).result
        own, ours = result["content"]
        assert own == {"type": "text", "text": own["text"]}
        assert "name resolution" in own["text"], "what the server said stands as it was"
        assert ours["_meta"] == {"mcpguard/speaker": "guard"}
        assert ours["text"] == f"[mcpguard: {Need.NETWORK.fact} {CONFINED}]"
        assert result["_meta"]["mcpguard/speaker"] == "server"
        assert result["_meta"]["mcpguard/sandbox"] == {
            "profile": "strict",
            "needs": ["network"],
            "message": f"{Need.NETWORK.fact} {CONFINED}",
        }


async def test_a_read_only_place_is_said_with_and_without_network(tmp_path: Path) -> None:
    async with guarding(tmp_path, needy(Profile.CONTAINED)) as guard:
        client = await guard.legacy()
        result = (await client.call("web::write")).result
        assert result["_meta"]["mcpguard/sandbox"]["needs"] == ["writing"]
        assert Need.WRITING.fact in texts(result)[1]
        assert str(tmp_path) not in json.dumps(result)


@pytest.mark.parametrize("tool", ["own", "fine"])
async def test_nothing_is_added_to_an_ordinary_error_or_to_an_answer(tool: str, tmp_path: Path) -> None:
    async with guarding(tmp_path, needy()) as guard:
        client = await guard.legacy()
        result = (await client.call(f"web::{tool}")).result
        assert len(result["content"]) == 1
        assert result["_meta"] == {"mcpguard/speaker": "server"}


async def test_nothing_is_added_where_nothing_is_kept_from_the_server(tmp_path: Path) -> None:
    async with guarding(tmp_path, needy(Profile.NONE)) as guard:
        client = await guard.legacy()
        error = (await client.call("web::wrong")).error
        assert error["data"] == {"n": 1, "_meta": {"mcpguard/speaker": "server"}}


async def test_an_error_of_the_protocol_keeps_its_words_and_says_it_in_its_data(tmp_path: Path) -> None:
    async with guarding(tmp_path, needy()) as guard:
        client = await guard.legacy()
        error = (await client.call("web::wrong")).error
        assert (error["code"], error["message"], error["data"]["n"]) == (
            -32000,
            "Could not resolve host: api.example",
            1,
        )
        assert error["data"]["_meta"]["mcpguard/sandbox"]["needs"] == ["network"]
        assert error["data"]["_meta"]["mcpguard/speaker"] == "server"


async def test_a_server_that_falls_and_does_not_come_back_says_it_in_the_refusal(tmp_path: Path) -> None:
    async with guarding(tmp_path, needy()) as guard:
        client = await guard.legacy()
        lost = (await client.call("web::fall")).result["structuredContent"]
        assert lost["reason"] == "server:lost"
        assert lost["detail"]["sandbox"] == f"{Need.NETWORK.fact} {CONFINED}"
        await until(lambda: guard.now.guard.status().servers[0].state == "error")
        gone = (await client.call("web::resolve")).result
        assert gone["structuredContent"]["reason"] == "server:unreachable"
        assert gone["structuredContent"]["detail"]["sandbox"] == f"{Need.NETWORK.fact} {CONFINED}"
        assert Need.NETWORK.fact in texts(gone)[0]
        assert [entry["outcome"] for entry in guard.entries()] == ["unknown", "refused"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[Errno -3] Temporary failure in name resolution", {Need.NETWORK: "Temporary failure in name resolution"}),
        ("getaddrinfo eai_again registry", {Need.NETWORK: "EAI_AGAIN"}),
        ("connect ENETUNREACH 10.0.0.1:443", {Need.NETWORK: "ENETUNREACH"}),
        ("EROFS: read-only file system, open '/x'", {Need.WRITING: "EROFS"}),
        ("[Errno 13] Permission denied: '/srv/notes'", {Need.FILES: "[Errno 13] Permission denied"}),
        ("EACCES: permission denied, open '/srv'", {Need.FILES: "EACCES"}),
        ("fatal: detected dubious ownership in repository", {Need.OWNERSHIP: "dubious ownership"}),
        ("you have no permission to read this issue", {}),
        ("user ENOTFOUND", {}),
        ("MY_EROFS_FLAG is set", {}),
        ("x" * 40_000 + " EROFS", {}),
    ],
)
def test_what_looks_like_a_denial(text: str, found: dict[Need, str]) -> None:
    assert need_phrases([text], StdioLaunch("server")) == found
    assert not need_phrases([text], StdioLaunch("server", profile=Profile.NONE))


def test_a_server_with_the_network_does_not_lack_it() -> None:
    both: list[Any] = ["EAI_AGAIN", "EROFS"]
    assert need_phrases(both, StdioLaunch("server", profile=Profile.CONTAINED)) == {Need.WRITING: "EROFS"}
