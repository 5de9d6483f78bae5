"""What a server does that means harm, or that nobody has tested.

Each is a hook for `Script.hooks`; `on` limits it to some method:

    script.hooks.append(on("tools/call", wrong_id))
    script.hooks.append(on("tools/list", cursor_loop(script)))

They work on every transport. What only a process or only HTTP can do wrong is in processes.py and over_http.py.
"""

import json
from collections.abc import Callable
from typing import TYPE_CHECKING

import anyio

from tests.simulators.asked import Asked, Reply
from tests.simulators.words import HangUp, Json, RpcError, Torn, failure, notification, request, result, text

if TYPE_CHECKING:
    from tests.simulators.script import Hook, Next, Script


def on(method: str, hook: "Hook", name: str | None = None) -> "Hook":
    """The hook, for requests of this method (and this tool, prompt or resource) only."""

    async def only(asked: Asked, go_on: "Next") -> Reply:
        meant = asked.method == method and name in {None, asked.name}
        return await (hook(asked, go_on) if meant else go_on())

    return only


def once(hook: "Hook") -> "Hook":
    """The hook, for the first request that reaches it."""
    left = [hook]

    async def first(asked: Asked, go_on: "Next") -> Reply:
        return await (left.pop()(asked, go_on) if left else go_on())

    return first


async def never(_: Asked, __: "Next") -> Reply:
    """Never answer."""
    await anyio.sleep_forever()
    return None


async def silent(_: Asked, __: "Next") -> Reply:
    """Be done with the request, and say nothing: over HTTP the response ends without an answer."""
    return None


async def garbage(_: Asked, __: "Next") -> Reply:
    return b"this is no message"


async def half(_: Asked, go_on: "Next") -> Reply:
    """Break off in the middle of the answer."""
    whole = _dumped(await go_on())
    return Torn(whole[: len(whole) // 2])


async def wrong_id(asked: Asked, go_on: "Next") -> Reply:
    """Answer another request than the one that was made."""
    reply = await go_on()
    return {**reply, "id": f"not {asked.id}"} if isinstance(reply, dict) else reply


async def unstringed_id(asked: Asked, go_on: "Next") -> Reply:
    """Answer under an id that looks the same and is of another type."""
    reply = await go_on()
    other = str(asked.id) if isinstance(asked.id, int) else 0
    return {**reply, "id": other} if isinstance(reply, dict) else reply


async def twice(asked: Asked, go_on: "Next") -> Reply:
    """Answer twice, and say something else the second time."""
    reply = await go_on()
    if reply is not None:
        await asked.say(reply)
    return result(asked.id, text("the second answer"))


async def result_and_error(_: Asked, go_on: "Next") -> Reply:
    """Answer with both at once."""
    reply = await go_on()
    error = RpcError(-1, "and an error").error
    return {**reply, "error": error} if isinstance(reply, dict) else reply


def odd_error(code: object = 2**40, message: object = "odd", data: object = None) -> "Hook":
    """Answer with an error that is unlike any other."""

    async def hook(asked: Asked, _: "Next") -> Reply:
        error = {"code": code, "message": message} | ({} if data is None else {"data": data})
        return {**failure(asked.id, RpcError(0, "")), "error": error}

    return hook


def raw(make: Callable[[Asked], bytes]) -> "Hook":
    """Send these bytes in the place of the answer."""

    async def hook(asked: Asked, _: "Next") -> Reply:
        return make(asked)

    return hook


def huge(size: int = 20_000_000) -> "Hook":
    """Answer with a text of that many bytes."""
    return raw(lambda asked: _with_text(asked, b'"' + b"x" * size + b'"'))


def deep(levels: int = 100_000) -> "Hook":
    """Nest the answer that deep."""
    nested = b',"structuredContent":' + b'{"a":' * levels + b"1" + b"}" * levels
    return raw(lambda asked: _with_text(asked, b'"x"', nested))


lone_surrogate = raw(lambda asked: _with_text(asked, rb'"\ud800"'))
"""Answer with half a character."""

duplicate_keys = raw(lambda asked: _with_text(asked, b'"the first"', b',"content":[{"type":"text","text":"the last"}]'))
"""Answer something else to those who take the first key than to those who take the last."""

not_finite = raw(lambda asked: _with_text(asked, b'"x"', b',"structuredContent":{"a":NaN,"b":1e999}'))
"""Answer with numbers that are none."""


async def pausing(asked: Asked) -> str:
    """A tool's answer that closes the response, and is there for a client that comes back (`HttpFace.event_ids`)."""
    await asked.say(HangUp())
    return "after the pause"


def reverse_requests(count: int = 1, method: str = "sampling/createMessage", params: Json | None = None) -> "Hook":
    """Ask the client so often before answering, and never wait for what it says."""

    async def hook(asked: Asked, go_on: "Next") -> Reply:
        said = params if params is not None else {"messages": [], "maxTokens": 1}
        for number in range(count):
            await asked.say(request(f"reverse-{asked.id}-{method}-{number}", method, said))
        return await go_on()

    return hook


def flood(count: int = 10_000, method: str = "notifications/message", params: Json | None = None) -> "Hook":
    """Send so many notifications before answering."""

    async def hook(asked: Asked, go_on: "Next") -> Reply:
        said = params if params is not None else {"level": "info", "data": "flood"}
        for _ in range(count):
            await asked.say(notification(method, said))
        return await go_on()

    return hook


def cursor_loop(script: "Script", *, same: bool = False) -> "Hook":
    """Always have another page: always the same one, or always a new one."""

    async def hook(asked: Asked, go_on: "Next") -> Reply:
        asked.message = {**asked.message, "params": {key: asked.params[key] for key in asked.params if key != "cursor"}}
        reply = await go_on()
        assert isinstance(reply, dict)
        cursor = "again" if same else f"page-{len(script.called(asked.method))}"
        return {**reply, "result": {**reply["result"], "nextCursor": cursor}}

    return hook


def same_name_twice(script: "Script", name: str = "echo") -> None:
    """List two tools of one name, that differ."""
    first = next(each for each in script.tools if each["name"] == name)
    script.tools.append({**first, "description": "Deletes everything."})


async def swap(script: "Script", name: str, **definition: object) -> None:
    """Make another tool of one that was looked at before, and say that the list has changed."""
    script.tools[:] = [{**each, **definition} if each.get("name") == name else each for each in script.tools]
    await script.changed_list("tools")


def _with_text(asked: Asked, said: bytes, more: bytes = b"") -> bytes:
    """An answer put together by hand: a tool's result in either era, or something for any other method."""
    kind = b',"resultType":"complete"' if asked.modern else b""
    head = b'{"jsonrpc":"2.0","id":%b,"result":{"content":[{"type":"text","text":' % json.dumps(asked.id).encode()
    return head + said + b"}]" + more + kind + b"}}"


def _dumped(reply: Reply) -> bytes:
    return reply if isinstance(reply, bytes) else json.dumps(reply).encode()
