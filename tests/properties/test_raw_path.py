"""What a server says arrives at the client as it was said, and what a client says arrives at the server.

Whatever the transports and the eras on both sides are: unknown fields, nulls that were said aloud, numbers of any size,
any text, any nesting. Only what is reserved for one leg of the way is taken off and put on (`codec/envelope.py`), the
direct face adds where a thing comes from, and what there is to note about a reply stands beside it.
"""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mcpguard.codec.uris import wrap_uri
from mcpguard.gateway.lists import KINDS
from tests.gate import Gate, gate
from tests.gateway.speaking import HOWS, changed_and_approved, played, same, speaking
from tests.simulators.client import RawClient
from tests.simulators.script import Script
from tests.simulators.words import Json, RpcError
from tests.tiers import examples

pytestmark = pytest.mark.anyio
SERVERS = {
    "hm": ("http", Script("modern")),
    "hl": ("http", Script("legacy")),
    "sm": ("stdio", Script("modern")),
    "sl": ("stdio", Script("legacy")),
}
STAMP = "io.modelcontextprotocol/"
NOTES = ("mcpguard/screened", "mcpguard/speaker")
OF_ONE_LEG = {"resultType", "ttlMs", "cacheScope"}
KNOWN = {"name", "arguments", "uri", "_meta", "task", "inputResponses", "requestState", "content", "isError"}


def _nested(levels: int, leaf: object) -> object:
    for level in range(levels):
        leaf = [leaf] if level % 2 else {"deeper": leaf}
    return leaf


numbers = st.one_of(
    st.integers(),
    st.integers(-(10**40), 10**40),
    st.sampled_from([2**53 + 1, 2**63, 2**64, -(2**63) - 1, 10**400, 1e300, -0.0, 5e-324, 0.1, 1.0]),
    st.floats(allow_nan=False, allow_infinity=False),
)
values = st.recursive(
    st.none() | st.booleans() | numbers | st.text(max_size=40),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=12,
)
deep = st.builds(_nested, st.integers(10, 40), values)
anything = values | deep
keys = st.text(max_size=20).filter(lambda key: key not in KNOWN | OF_ONE_LEG and not key.startswith(STAMP))
objects = st.dictionaries(keys, anything, max_size=5)
metas = st.none() | objects.map(lambda found: {"_meta": {**found, "com.example/kept": None}})
hows = st.sampled_from(HOWS)
servers = st.sampled_from(sorted(SERVERS))
patient = settings(
    max_examples=examples(80),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.differing_executors],
)


@dataclass
class Paths:
    """A guard in front of four servers, and a client of each kind at each face."""

    guard: Gate
    clients: dict[tuple[str, str], RawClient]


@pytest.fixture(scope="module")
def anyio_backend() -> tuple[str, dict[str, object]]:
    return "asyncio", {"use_uvloop": True}


@pytest.fixture(scope="module")
async def paths(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Paths]:
    folder = tmp_path_factory.mktemp("raw")
    async with AsyncExitStack() as stack:
        declared = [
            await stack.enter_async_context(played(folder, script, name, over=over))
            for name, (over, script) in SERVERS.items()
        ]
        guard = await stack.enter_async_context(gate(folder, *declared))
        await guard.ready(*SERVERS)
        clients = {
            (how, only): await stack.enter_async_context(speaking(guard, how, only=only or None))
            for how in HOWS
            for only in ("", *SERVERS)
        }
        yield Paths(guard, clients)


@given(server=servers, how=hows, direct=st.booleans(), arguments=objects, other=objects, meta=metas, result=objects)
@patient
async def test_arguments_and_results_arrive_as_they_were_said(
    paths: Paths, server: str, how: str, direct: bool, arguments: Json, other: Json, meta: Json | None, result: Json
) -> None:
    _, script = SERVERS[server]
    said = result | {"content": [{"type": "text", "text": "x", "_meta": arguments} | other]} | (meta or {})
    script.answers["tools/call"] = script.answers["tools/call echo"] = said
    client = paths.clients[how, "" if direct else server]
    params = {"name": f"{server}::echo" if direct else "echo", "arguments": arguments} | (meta or {})
    reply = await client.request("tools/call", params)
    assert same(_own(reply.result), said)
    assert same(_own(script.called("tools/call")[-1]["params"]), params | {"name": "echo"})


@given(server=servers, how=hows, direct=st.booleans(), contents=st.lists(objects, max_size=3), rest=objects)
@patient
async def test_resources_and_prompts_arrive_as_they_were_said(
    paths: Paths, server: str, how: str, direct: bool, contents: list[Json], rest: Json
) -> None:
    _, script = SERVERS[server]
    client = paths.clients[how, "" if direct else server]
    script.answers["resources/read note://first"] = read = rest | {"contents": contents}
    script.answers["prompts/get greet"] = got = rest | {"messages": contents}
    script.answers["completion/complete greet"] = script.answers["completion/complete"] = rest | {"completion": rest}
    uri, name = (wrap_uri(server, "note://first"), f"{server}::greet") if direct else ("note://first", "greet")
    assert same(_own((await client.request("resources/read", {"uri": uri})).result), read)
    assert same(_own((await client.request("prompts/get", {"name": name})).result), got)
    ref = {"ref": {"type": "ref/prompt", "name": name}, "argument": {"name": "name", "value": "x"}}
    assert same(_own((await client.request("completion/complete", ref)).result), rest | {"completion": rest})


@given(
    server=servers,
    how=hows,
    direct=st.booleans(),
    code=st.integers(-(2**53), 2**53).filter(lambda code: not -32099 <= code <= -32000),
    message=st.text(),
    data=anything.filter(lambda data: data is not None),
)
@patient
async def test_errors_arrive_as_they_were_said(
    paths: Paths, server: str, how: str, direct: bool, code: int, message: str, data: object
) -> None:
    _, script = SERVERS[server]
    client = paths.clients[how, "" if direct else server]

    def failing(_: object) -> Json:
        raise RpcError(code, message, data)

    script.answers["tools/call echo"] = script.answers["tools/call"] = failing
    reply = await client.request("tools/call", {"name": f"{server}::echo" if direct else "echo"})
    told = {**reply.error, "data": _own(reply.error["data"])} if isinstance(data, dict) else reply.error
    assert same(told, {"code": code, "message": message, "data": data})


@given(server=servers, definitions=st.lists(objects, min_size=1, max_size=4), meta=metas)
@settings(patient, max_examples=examples(12))
async def test_definitions_arrive_as_they_were_said(
    paths: Paths, server: str, definitions: list[Json], meta: Json | None
) -> None:
    _, script = SERVERS[server]
    made = [{**each, **(meta or {}), "metadata": each} for each in definitions]
    script.tools[:] = [{**each, "name": f"tool{at}", "inputSchema": each} for at, each in enumerate(made)]
    script.resources[:] = [{**each, "uri": f"note://{at}"} for at, each in enumerate(made)]
    script.templates[:] = [{**each, "uriTemplate": f"note://{at}/{{x}}"} for at, each in enumerate(made)]
    script.prompts[:] = [{**each, "name": f"prompt{at}"} for at, each in enumerate(made)]
    await changed_and_approved(paths.guard, script, server)
    offered = dict(zip(KINDS, (script.tools, script.resources, script.templates, script.prompts), strict=True))
    for how in HOWS:
        for method, (_, key) in KINDS.items():
            shown = (await paths.clients[how, server].request(method)).result[key]
            assert same(shown, offered[method]), "the transparent face changes nothing"
            everything = (await paths.clients[how, ""].request(method)).result[key]
            mine = [each for each in everything if each["_meta"]["mcpguard/origin"]["server"] == server]
            assert same([_without_origin(each) for each in mine], [_nameless(each) for each in offered[method]])


def _own(said: Json) -> Json:
    """What was said, without what belongs to one leg of the way, and without the guard's notes."""
    rest = {key: value for key, value in said.items() if key not in OF_ONE_LEG}
    meta = {key: value for key, value in rest.pop("_meta", {}).items() if not key.startswith((STAMP, *NOTES))}
    return rest | ({"_meta": meta} if meta else {})


NAMES = {"name", "uri", "uriTemplate"}


def _nameless(definition: Json) -> Json:
    return {key: value for key, value in definition.items() if key not in NAMES} | {
        "_meta": definition.get("_meta", {})
    }


def _without_origin(shown: Json) -> Json:
    """A definition of the direct face without what it adds."""
    meta = {key: value for key, value in shown["_meta"].items() if key != "mcpguard/origin"}
    metadata = {key: value for key, value in shown["metadata"].items() if key != "proxy"}
    return _nameless(shown) | {"_meta": meta, "metadata": metadata}
