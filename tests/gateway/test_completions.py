"""Completions go to the server whose prompt or template it is that is being completed."""

from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from mcpguard.codec.uris import wrap_uri
from tests.gate import gate
from tests.gateway.speaking import HOWS, played, refused_once, speaking
from tests.simulators.script import Script
from tests.simulators.words import Json

pytestmark = pytest.mark.anyio
TEMPLATES = "proxy://template/"


def prompt(name: str, **more: str) -> Json:
    return {"type": "ref/prompt", "name": name} | more


def resource(uri: str) -> Json:
    return {"type": "ref/resource", "uri": uri}


MEANT = [
    (prompt("one::greet"), "one", prompt("greet")),
    (prompt("other__greet", title="x"), "other", prompt("greet", title="x")),
    (resource(TEMPLATES + "one/note://{number}/text"), "one", resource("note://{number}/text")),
    (resource("note://{number}/other"), "other", resource("note://{number}/other")),
    (resource(wrap_uri("one", "note://first")), "one", resource("note://first")),
]
UNKNOWN = [
    prompt("greet"),
    prompt("one::other"),
    resource("note://first"),
    resource(TEMPLATES + "one/note://{other}/text"),
    resource(TEMPLATES + "one/note://17/text"),
    resource(wrap_uri("third", "note://first")),
]


async def test_completions_are_routed(tmp_path: Path) -> None:
    scripts = {"one": Script(), "other": Script()}
    for name, script in scripts.items():
        script.answers["completion/complete"] = {"completion": {"values": [name]}}
    scripts["other"].templates[0]["uriTemplate"] = "note://{number}/other"
    async with AsyncExitStack() as stack:
        servers = [await stack.enter_async_context(played(tmp_path, script, name)) for name, script in scripts.items()]
        guard = await stack.enter_async_context(gate(tmp_path, *servers))
        await guard.ready(*scripts)
        for how in HOWS:
            async with speaking(guard, how) as client:
                for ref, server, own in MEANT:
                    more = {"argument": {"name": "number", "value": "1"}, "context": {"arguments": {"a": "b"}}}
                    reply = await client.request("completion/complete", {"ref": ref, **more})
                    assert reply.result["completion"]["values"] == [server]
                    asked = scripts[server].called("completion/complete")[-1]["params"]
                    assert {key: asked[key] for key in ("ref", "argument", "context")} == {"ref": own, **more}
                for ref in UNKNOWN:
                    params = {"ref": ref, "argument": {"name": "number", "value": "1"}}
                    with refused_once(guard, "capability:unknown", *scripts.values()):
                        said = (await client.request("completion/complete", params)).error
                    assert said["data"]["reason"] == "capability:unknown"
