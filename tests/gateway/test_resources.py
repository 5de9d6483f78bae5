"""Resources of several servers: each URI carries its server, and a forged one reaches nothing."""

import base64
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from mcpguard.codec.uris import wrap_uri
from tests.gate import Gate, gate
from tests.gateway.speaking import HOWS, guarded, nothing_happens, played, refused_once, speaking
from tests.simulators.client import RawClient, Reply
from tests.simulators.script import Script

pytestmark = pytest.mark.anyio
TEMPLATES = "proxy://template/"


async def read(client: RawClient, uri: str) -> Reply:
    return await client.request("resources/read", {"uri": uri})


@asynccontextmanager
async def two(folder: Path, one: Script, other: Script) -> AsyncIterator[Gate]:
    async with AsyncExitStack() as stack:
        scripts = {"one": one, "other": other}
        servers = [await stack.enter_async_context(played(folder, script, name)) for name, script in scripts.items()]
        guard = await stack.enter_async_context(gate(folder, *servers))
        await guard.ready(*scripts)
        yield guard


async def test_what_is_listed_can_be_read(tmp_path: Path) -> None:
    script = Script()
    script.resources.append({"uri": "x:" + "\u00fc" * 400, "name": "long"})
    script.answers["resources/read x:" + "\u00fc" * 400] = {"contents": []}
    async with guarded(tmp_path, script) as guard:
        for how in HOWS:
            async with speaking(guard, how) as client:
                listed = (await client.request("resources/list")).result["resources"]
                for shown, own in zip(listed, script.resources, strict=True):
                    assert shown["uri"].startswith("proxy://resource/")
                    assert shown["_meta"]["mcpguard/origin"] == {"server": "web", "uri": own["uri"]}
                    assert shown["metadata"]["proxy"] == {"server": "web", "originalUri": own["uri"]}
                    assert "contents" in (await read(client, shown["uri"])).result
                    assert script.called("resources/read")[-1]["params"]["uri"] == own["uri"]


async def test_a_template_that_is_listed_can_be_expanded_and_read(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script) as guard:
        for how in HOWS:
            async with speaking(guard, how) as client:
                (shown,) = (await client.request("resources/templates/list")).result["resourceTemplates"]
                assert shown["uriTemplate"] == TEMPLATES + "web/note://{number}/text"
                assert shown["_meta"]["mcpguard/origin"] == {"server": "web", "uriTemplate": "note://{number}/text"}
                expanded = shown["uriTemplate"].replace("{number}", "17")
                assert (await read(client, expanded)).result["contents"][0]["text"] == "note 17"
                assert script.called("resources/read")[-1]["params"]["uri"] == "note://17/text"
                assert guard.entries()[-1]["name"] == "note://17/text"
                for uri in ("note://18/text", wrap_uri("web", "note://19/text")):
                    assert "contents" in (await read(client, uri)).result


@pytest.mark.parametrize("how", HOWS)
async def test_what_is_read_has_the_name_that_its_client_used(how: str, tmp_path: Path) -> None:
    """And a part of it the one under which it is told of, and can be read."""
    script = Script()
    said: list[Any] = [{"uri": "note://first", "text": "a"}, {"uri": "note://2/text", "text": "b"}, {"text": "c"}, "d"]
    script.answers["resources/read note://first"] = {"contents": said, "more": 1}
    async with guarded(tmp_path, script) as guard:
        async with speaking(guard, how) as client:
            for words in (wrap_uri("web", "note://first"), "note://first", TEMPLATES + "web/note://first"):
                result = (await read(client, words)).result
                part = wrap_uri("web", "note://2/text")
                assert result["contents"] == [said[0] | {"uri": words}, said[1] | {"uri": part}, *said[2:]]
                assert result["more"] == 1
                assert (await read(client, part)).result["contents"][0]["uri"] == part
        async with speaking(guard, how, only="web") as client:
            assert (await read(client, "note://first")).result["contents"] == said


@pytest.mark.parametrize("contents", [None, {}, "text", [None, [], {"uri": 7}]])
async def test_contents_that_are_none_are_passed_on_as_they_are(contents: object, tmp_path: Path) -> None:
    script = Script()
    script.answers["resources/read note://first"] = {"contents": contents}
    async with guarded(tmp_path, script) as guard:
        assert (await read(guard.client(), "note://first")).result["contents"] == contents


FORGED = [
    wrap_uri("web", "file:///etc/passwd"),
    wrap_uri("other", "note://first"),
    wrap_uri("web", "note://first "),
    wrap_uri("web", wrap_uri("web", "note://first")),
    wrap_uri("web", "note://../text"),
    wrap_uri("web", "note://a/b/text"),
    "file:///etc/passwd",
    TEMPLATES + "other/note://1/text",
    TEMPLATES + "web/note://a/b/text",
    TEMPLATES + "web/" + wrap_uri("web", "note://first"),
]


async def test_a_forged_token_reaches_nothing(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script) as guard:
        for how in HOWS:
            async with speaking(guard, how) as client:
                for uri in FORGED:
                    with refused_once(guard, "capability:unknown", script) as entry:
                        said = (await read(client, uri)).error
                    assert said["code"] == (-32602 if client.modern else -32002)
                    assert (said["data"]["reason"], said["data"]["uri"]) == ("capability:unknown", uri)
                    assert entry["entry"] == said["data"]["call_id"]


def token(value: object) -> str:
    said = value if isinstance(value, bytes) else json.dumps(value).encode()
    return "proxy://resource/" + base64.urlsafe_b64encode(said).decode().rstrip("=")


NO_TOKENS = [
    "proxy://resource/",
    "proxy://resource/!!!!",
    "proxy://resource/a",
    token(b"\xff\xfe"),
    token("text"),
    token([]),
    token({}),
    token({"server": "web"}),
    token({"server": "web", "uri": ""}),
    token({"server": "web", "uri": None}),
    token({"server": "WEB", "uri": "note://first"}),
    token({"server": "../web", "uri": "note://first"}),
    token({"server": "web", "uri": "note://first", "more": 1}),
    token(b'{"server":"web","server":"other","uri":"note://first"}'),
    token({"server": "web", "uri": "note://first"}) + "\u00fc",
    TEMPLATES,
    TEMPLATES + "web",
    TEMPLATES + "web/",
    TEMPLATES + "/note://first",
    TEMPLATES + "a__b/note://first",
    "x:" + "a" * 8191,
]


async def test_what_is_no_token_is_a_mistake_and_no_call(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script) as guard:
        for how in HOWS:
            async with speaking(guard, how) as client:
                for uri in NO_TOKENS:
                    with nothing_happens(guard, script):
                        assert (await read(client, uri)).error["code"] == -32602


async def test_a_servers_own_uri_is_understood_where_only_one_offers_it(tmp_path: Path) -> None:
    one, other = Script(), Script()
    other.resources = [{"uri": "note://first", "name": "the same"}, {"uri": "note://second", "name": "another"}]
    other.templates = []
    other.answers["resources/read note://second"] = {"contents": []}
    async with two(tmp_path, one, other) as guard:
        client = guard.client()
        with refused_once(guard, "capability:unknown", one, other):
            assert (await read(client, "note://first")).error["data"]["reason"] == "capability:unknown"
        await read(client, "note://second")
        await read(client, "note://3/text")
        assert [each["params"]["uri"] for each in other.called("resources/read")] == ["note://second"]
        assert [each["params"]["uri"] for each in one.called("resources/read")] == ["note://3/text"]


async def test_on_the_transparent_face_uris_are_the_servers_own(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script) as guard, speaking(guard, "http modern", only="web") as client:
        assert (await client.request("resources/list")).result["resources"] == script.resources
        assert (await client.request("resources/templates/list")).result["resourceTemplates"] == script.templates
        assert "contents" in (await read(client, "note://first")).result
        assert (await read(client, "note://5/text")).result["contents"][0]["text"] == "note 5"
        for uri in (wrap_uri("web", "note://first"), TEMPLATES + "web/note://1/text", "note://../text"):
            assert (await read(client, uri)).error["data"]["reason"] == "capability:unknown"
        assert len(script.called("resources/read")) == 2
