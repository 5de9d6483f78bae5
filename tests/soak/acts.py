"""What clients do. An act is a function of a seat; `ACTS` says how often each is played, and how it should end.

Whoever adds one writes the function and a line in the table. Every act has to end by itself, whatever is killed.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

import anyio

from tests.simulators.words import Json
from tests.soak.book import ANSWERED, FAILED, GIVEN_UP
from tests.soak.fleet import EVERYTHING
from tests.soak.listening import listen
from tests.soak.seat import Right, Seat
from tests.soak.words import MAY_ASK, PROMPT, SOMETIMES, TEMPLATE, TOOLS, mark, much, note

UNKNOWN = "capability:unknown"
CROWD = 24


def _says(said: str) -> Right:
    """A tool's result that is exactly this text."""
    return lambda result: [part.get("text") for part in result.get("content", [])] == [said]


def _call(seat: Seat, server: str, tool: str, **arguments: object) -> Json:
    return {"name": seat.named(server, tool), "arguments": arguments}


async def tool(name: str, seat: Seat) -> None:
    """A tool that answers at once: `say`, `fail` or `turn`."""
    server, token = seat.server(), seat.token()
    await seat.ask(name, "tools/call", _call(seat, server, name, token=token), _says(mark(server, name, token)))


async def work(seat: Seat) -> None:
    server, token = seat.server(), seat.token()
    params = _call(seat, server, "work", token=token, seconds=seat.dice.uniform(0.01, 0.2))
    await seat.ask("work", "tools/call", params, _says(mark(server, "work", token)))


async def tell(seat: Seat) -> None:
    """With progress and messages before the answer."""
    server, token, steps = seat.server(), seat.token(), seat.dice.randint(1, 8)
    said = mark(server, "tell", token)
    params = _call(seat, server, "tell", token=token, steps=steps)
    await seat.ask("tell", "tools/call", params, _says(said), hears=(said, steps))


async def ask(seat: Seat) -> None:
    """A tool that asks the client something before it answers."""
    servers = [server for server in MAY_ASK if seat.only in (None, server)]
    if servers:
        server, token = seat.dice.choice(servers), seat.token()
        said = mark(server, "ask", token)
        seat.marks.add(said)
        await seat.ask("ask", "tools/call", _call(seat, server, "ask", token=token), _says(said), rounds=True)


async def watch(seat: Seat) -> None:
    """Subscribe to something, let it change, and give the subscription back. Modern clients listen for that."""
    if seat.modern:
        return
    server, token = seat.server(), seat.token()
    uri = seat.uri(server, note(token))
    seat.watched.add(uri)
    await seat.ask("watch", "resources/subscribe", {"uri": uri}, lambda result: result == {})
    touch = _call(seat, server, "touch", token=token)
    await seat.ask("watch", "tools/call", touch, _says(mark(server, "touch", token)))
    await seat.ask("watch", "resources/unsubscribe", {"uri": uri}, lambda result: result == {}, recorded=False)


async def large(seat: Seat) -> None:
    server, token = seat.server(), seat.token()
    await seat.ask("much", "tools/call", _call(seat, server, "much", token=token), _says(much(server, token)))


async def never(seat: Seat) -> None:
    """A call that would never be answered, and is taken back. A stream that breaks off takes nothing back, so who is
    going to do that asks for no such call.
    """
    if seat.hasty and not seat.over_http:
        return
    server, token = seat.server(), seat.token()
    params = _call(seat, server, "never", token=token)
    seat.hanging += 1
    await seat.take_back("never", "tools/call", params, lambda _: False, seat.dice.uniform(0, 0.2))
    seat.hanging -= 1


async def leave(seat: Seat) -> None:
    """A call that its client does not wait for. On a stream there is no other way to leave than to end it."""
    server, token = seat.server(), seat.token()
    params = _call(seat, server, "work", token=token, seconds=0.3)
    leaving = seat.leave_call if seat.over_http else seat.take_back
    await leaving("leave", "tools/call", params, _says(mark(server, "work", token)), seat.dice.uniform(0, 0.2))


async def crowd(seat: Seat) -> None:
    """More calls at once than one server may work on and keep waiting."""
    server = seat.server()
    async with anyio.create_task_group() as tasks:
        for _ in range(CROWD):
            token = seat.token()
            params = _call(seat, server, "work", token=token, seconds=0.02)
            tasks.start_soon(seat.ask, "crowd", "tools/call", params, _says(mark(server, "work", token)))


async def unknown(seat: Seat) -> None:
    """A tool that there is not."""
    await seat.ask("unknown", "tools/call", _call(seat, seat.server(), "none"), lambda _: False, expected=UNKNOWN)


async def everything(seat: Seat) -> None:
    """The server from npm, where it is there and in sight."""
    token = seat.token()
    if seat.everything:
        params = {"name": f"{EVERYTHING}::echo", "arguments": {"message": token}}
        await seat.ask("everything", "tools/call", params, _says(f"Echo: {token}"))


async def list_tools(seat: Seat) -> None:
    """All tools of all servers that were approved, whoever is away just now, and no others."""
    servers = (seat.only,) if seat.only else seat.servers
    always = {seat.named(server, name) for server in servers for name in TOOLS}
    sometimes = {seat.named(server, SOMETIMES) for server in servers}

    def right(result: Json) -> bool:
        listed = [each["name"] for each in result.get("tools", [])]
        ours = {name for name in listed if not name.startswith(f"{EVERYTHING}::")}
        return len(listed) == len(set(listed)) and always <= ours <= always | sometimes

    await seat.ask("list tools", "tools/list", {}, right, recorded=False)


async def list_others(seat: Seat) -> None:
    server = seat.server()
    prompt, template = seat.named(server, PROMPT), seat.template(server, TEMPLATE)
    asked: list[tuple[str, Right]] = [
        ("prompts/list", lambda result: prompt in [each["name"] for each in result["prompts"]]),
        (
            "resources/templates/list",
            lambda result: template in [each["uriTemplate"] for each in result["resourceTemplates"]],
        ),
        ("resources/list", lambda result: isinstance(result.get("resources"), list)),
    ]
    method, right = seat.dice.choice(asked)
    await seat.ask("list others", method, {}, right, recorded=False)


async def read(seat: Seat) -> None:
    server, token = seat.server(), seat.token()
    uri = seat.uri(server, note(token))
    said = [{"uri": uri, "text": mark(server, "read", token)}]  # under the name by which it was asked for
    await seat.ask("read", "resources/read", {"uri": uri}, lambda result: result.get("contents") == said)


async def prompt(seat: Seat) -> None:
    server, token = seat.server(), seat.token()
    params = {"name": seat.named(server, PROMPT), "arguments": {"token": token}}
    said = [{"type": "text", "text": mark(server, PROMPT, token)}]
    await seat.ask(
        "prompt", "prompts/get", params, lambda result: [m["content"] for m in result.get("messages", [])] == said
    )


async def complete(seat: Seat) -> None:
    server, token = seat.server(), seat.token()
    ref = {"type": "ref/prompt", "name": seat.named(server, PROMPT)}
    params = {"ref": ref, "argument": {"name": "token", "value": token}}
    said = [mark(server, "complete", token)]
    await seat.ask(
        "complete", "completion/complete", params, lambda result: result.get("completion", {}).get("values") == said
    )


@dataclass(frozen=True)
class Act:
    """One of the table. `ends` is how it ends when nothing is in the way."""

    name: str
    play: Callable[[Seat], Awaitable[None]]
    often: int
    ends: str = ANSWERED


ACTS = (
    Act("say", partial(tool, "say"), 12),
    Act("fail", partial(tool, "fail"), 3, FAILED),
    Act("turn", partial(tool, "turn"), 1),
    Act("work", work, 8),
    Act("tell", tell, 8),
    Act("ask", ask, 6),
    Act("watch", watch, 3),
    Act("much", large, 2),
    Act("never", never, 4, GIVEN_UP),
    Act("leave", leave, 4, GIVEN_UP),
    Act("crowd", crowd, 1),
    Act("unknown", unknown, 1, UNKNOWN),
    Act("everything", everything, 4),
    Act("list tools", list_tools, 4),
    Act("list others", list_others, 3),
    Act("read", read, 5),
    Act("prompt", prompt, 4),
    Act("complete", complete, 4),
    Act("listen", listen, 4),
)
