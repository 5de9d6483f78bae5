"""Messages between an agent and a guard: a real relay, and a guard that the test plays."""

import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from mcpguard.codec.envelope import BY_GUARD
from mcpguard.codec.framing import Framing
from mcpguard.relay.relay import PAUSES, _accepted
from mcpguard.relay.traffic import LIMIT, from_guard
from tests.gateway.agent import Agent, relaying, request, result
from tests.gateway.played_guard import Conversation, playing
from tests.patience import PATIENCE
from tests.process import MCPGUARD, ROOT, environment, until

SLOW = {"fastapi", "starlette", "uvicorn", "sqlalchemy", "pydantic", "pydantic_settings", "typer", "mcp"}
PING = b'{"jsonrpc":"2.0","method":"notifications/ping"}'
both_framings = pytest.mark.parametrize("framing", Framing)


def met(agent: Agent, conversation: Conversation) -> None:
    """Something was relayed in the agent's framing, so everything is in place."""
    agent.say(PING)
    assert conversation.heard() == PING


@pytest.mark.parametrize(
    ("arguments", "environ", "introduction"),
    [
        ((), {}, {"face": "guard", "only": None, "token": None}),
        (("--face", "direct"), {"MCPGUARD_TOKEN": "mcpg_a"}, {"face": "direct", "only": None, "token": "mcpg_a"}),
        (("--face=transparent", "--only", "é"), {}, {"face": "transparent", "only": "é", "token": None}),
    ],
)
def test_the_agent_is_introduced(
    tmp_path: Path, arguments: tuple[str, ...], environ: dict[str, str], introduction: dict[str, object]
) -> None:
    with playing(tmp_path) as guard, relaying(tmp_path, *arguments, environ=environ) as agent:
        assert guard.accepted().introduction == {"mcpguard": 1, **introduction}
        agent.close()


@both_framings
def test_a_thousand_messages_are_answered_in_kind(tmp_path: Path, framing: Framing) -> None:
    asked = [request(number, text="é\n" * (number % 100)) for number in range(1000)]
    with playing(tmp_path) as guard, relaying(tmp_path, framing=framing) as agent:
        guard.echoing()
        speaking = agent.say_meanwhile(asked)
        answers = [json.loads(agent.heard()) for _ in asked]
        speaking.join()
        agent.close()
        assert agent.ended() == (0, "")
    assert [answer["result"]["said"] for answer in answers] == [json.loads(each) for each in asked]


@both_framings
def test_the_longest_message_passes_both_ways_as_it_is(tmp_path: Path, framing: Framing) -> None:
    asked, answer = request(1, text="X"), result(1, text="Y")
    asked, answer = (text.replace(b"X", b"x" * (LIMIT - len(text) + 1)) for text in (asked, answer.replace(b"Y", b"X")))
    assert (len(asked), len(answer)) == (LIMIT, LIMIT)
    with playing(tmp_path) as guard, relaying(tmp_path, framing=framing) as agent:
        conversation = guard.accepted()
        speaking = agent.say_meanwhile([asked])
        assert conversation.heard() == asked
        speaking.join()
        speaking = threading.Thread(target=conversation.say, args=(answer,))
        speaking.start()
        assert agent.heard() == answer
        speaking.join()


def test_a_message_of_several_lines_reaches_the_guard_as_one(tmp_path: Path) -> None:
    with playing(tmp_path) as guard, relaying(tmp_path, framing=Framing.HEADERS) as agent:
        conversation = guard.accepted()
        agent.say(
            b'{\r\n  "jsonrpc": "2.0",\n  "method": "one"\n}', b'{"jsonrpc":"2.0","method":"broken\nin two"}', PING
        )
        assert json.loads(conversation.heard()) == {"jsonrpc": "2.0", "method": "one"}
        with pytest.raises(json.JSONDecodeError):
            json.loads(conversation.heard())
        assert conversation.heard() == PING


def test_what_is_no_json_is_the_guards_to_judge(tmp_path: Path) -> None:
    said = [b"[1, 2]", b"{]", b"{" * 100_000, b'{"id":' + b"9" * 5000 + b',"method":"m"}', b'{"id":"\xff"}', b'"text"']
    with playing(tmp_path) as guard, relaying(tmp_path) as agent:
        conversation = guard.accepted()
        agent.say(*said)
        assert [conversation.heard() for _ in said] == said
        conversation.say(*said)
        assert [agent.heard() for _ in said] == said


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (b'{"error": "scope \\u001b[2J is \\n wrong"}\n', "the guard refuses: scope ⟨U+001B⟩[2J is \n wrong\n"),
        (b"{}\n", "the guard runs another version of mcpguard"),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "the guard runs another version of mcpguard"),
        (b'{"mcpguard": 2}\n', "the guard runs another version of mcpguard"),
    ],
)
def test_a_guard_that_does_not_accept_ends_it(tmp_path: Path, answer: bytes, told: str) -> None:
    with playing(tmp_path) as guard, relaying(tmp_path, environ={"MCPGUARD_TOKEN": "canary"}) as agent:
        conversation = guard.introduced()
        conversation.connection.sendall(answer)
        conversation.end()
        code, said = agent.ended()
    assert code == 1
    assert said.startswith(f"mcpguard: {told}")
    assert "canary" not in said


def test_patience_with_the_greeting_is_none_with_the_silence_after_it() -> None:
    """Nobody has to speak within some time; only the answer to the introduction is due."""
    near, far = socket.socketpair()
    with near, far:
        far.sendall(b'{"mcpguard": 1}\n')
        assert _accepted(near, b"{}\n", from_guard(near))
        assert near.gettimeout() is None


def test_a_guard_that_is_just_leaving_is_followed_by_the_next(tmp_path: Path) -> None:
    with playing(tmp_path) as guard, relaying(tmp_path) as agent:
        agent.say(request(1))
        for _ in range(2):
            guard.introduced().end()
        guard.echoing()
        assert json.loads(agent.heard())["id"] == 1


def test_a_guard_that_never_says_a_word_ends_it(tmp_path: Path) -> None:
    with playing(tmp_path) as guard, relaying(tmp_path) as agent:
        for _ in PAUSES:
            guard.introduced().end()
        assert agent.ended() == (1, "mcpguard: the guard closed the connection without an answer; see its log\n")


@both_framings
@pytest.mark.parametrize("unread", [False, True])
def test_every_request_without_an_answer_is_told_that_the_guard_has_ended(
    tmp_path: Path, framing: Framing, unread: bool
) -> None:
    with playing(tmp_path) as guard, relaying(tmp_path, framing=framing) as agent:
        conversation = guard.accepted()
        agent.say(request(1), request("two"), request(3), request(4), result("from-guard"))
        agent.say(b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4}}')
        agent.say(b'{"jsonrpc":"2.0","id":true,"method":"m"}', PING)
        until(lambda: PING in conversation.unread(), "everything has been relayed")
        conversation.say(result(1), b'{"jsonrpc":"2.0","id":3,"method":"sampling/createMessage"}')
        assert [json.loads(agent.heard())["id"] for _ in range(2)] == [1, 3]
        while not unread and conversation.heard() != PING:
            pass
        conversation.end()
        told = [json.loads(agent.heard()) for _ in range(2)]
        assert agent.ended() == (1, "mcpguard: the guard has exited\n")
    error = {"code": -32603, "message": "the guard has exited", "data": {"_meta": BY_GUARD}}
    assert told == [{"jsonrpc": "2.0", "id": id_, "error": error} for id_ in ("two", 3)]


def test_a_guard_that_says_too_much_at_once_ends_it(tmp_path: Path) -> None:
    with playing(tmp_path) as guard, relaying(tmp_path) as agent:
        conversation = guard.accepted()
        agent.say(request(1))
        conversation.heard()
        with pytest.raises(ConnectionError):
            conversation.say(b"[" + b"1" * LIMIT * 2)
        assert json.loads(agent.heard())["error"]["code"] == -32603
        code, said = agent.ended()
    assert (code, said) == (1, f"mcpguard: the guard sent an invalid message: {too_long()}\n")


def too_long() -> str:
    return f"a message is longer than {LIMIT} bytes"


def test_what_the_guard_still_answers_is_passed_on_when_the_agent_has_said_its_last(tmp_path: Path) -> None:
    with playing(tmp_path) as guard, relaying(tmp_path) as agent:
        conversation = guard.accepted()
        agent.say(request(1), request(2))
        agent.close()
        assert [json.loads(conversation.heard())["id"] for _ in range(2)] == [1, 2]
        assert conversation.heard() == b""
        conversation.say(result(1))
        conversation.end()
        assert agent.heard() == result(1)
        assert agent.ended() == (0, "")


def test_a_guard_that_never_answers_does_not_keep_a_relay_whose_agent_has_left(tmp_path: Path) -> None:
    with playing(tmp_path) as guard, relaying(tmp_path) as agent:
        conversation = guard.accepted()
        agent.say(request(1))
        agent.close()
        assert json.loads(conversation.heard())["id"] == 1
        assert agent.ended() == (0, "")


def test_an_agent_that_is_gone_ends_it_without_a_word(tmp_path: Path) -> None:
    with playing(tmp_path) as guard, relaying(tmp_path) as agent:
        conversation = guard.accepted()
        met(agent, conversation)
        assert agent.relay.stdout is not None
        agent.relay.stdout.close()
        conversation.say(result(1))
        assert agent.relay.wait(PATIENCE) == 0
        assert agent.relay.stderr is not None
        assert agent.relay.stderr.read() == b""


@pytest.mark.parametrize(
    ("garbage", "why"),
    [
        (b"hello\n", "neither a JSON message nor a Content-Length header"),
        (b"GET / HTTP/1.1\r\n\r\n", "neither a JSON message nor a Content-Length header"),
        (b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n", "a header must have exactly one Content-Length"),
        (b"Content-Length: 16777217\r\n\r\n", too_long()),
        (b"{" + b"1" * LIMIT + b"\n", too_long()),
    ],
)
def test_what_is_no_message_ends_it_with_exit_code_2(tmp_path: Path, garbage: bytes, why: str) -> None:
    with playing(tmp_path) as guard, relaying(tmp_path) as agent:
        conversation = guard.accepted()
        agent.say_raw(garbage)
        assert conversation.heard() == b""
        conversation.end()
        assert agent.ended() == (2, f"mcpguard: the agent sent an invalid message: {why}\n")


def test_what_was_asked_before_the_garbage_is_answered(tmp_path: Path) -> None:
    with playing(tmp_path) as guard, relaying(tmp_path, framing=Framing.HEADERS) as agent:
        agent.say(request(1))
        agent.say_raw(b"{}\r\n\r\n")
        guard.accepted().echo()
        assert json.loads(agent.heard())["id"] == 1
        assert agent.ended()[0] == 2


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_at_once_whatever_it_does(tmp_path: Path, number: signal.Signals) -> None:
    with playing(tmp_path) as guard, relaying(tmp_path) as agent:
        conversation = guard.accepted()
        met(agent, conversation)
        assert 0 < Flood(conversation.connection.fileno()).until_nobody_takes() < LITTLE
        agent.relay.send_signal(number)
        assert agent.relay.wait(PATIENCE) == 0
        assert agent.relay.stderr is not None
        assert agent.relay.stderr.read() == b""


MESSAGE = result("m", text="x" * 65_536)
MANY = 4096
LITTLE = 64
"""Messages that fit into all the buffers of the system between two processes, and more."""


class Flood:
    """The same message over and over, as long as it is taken."""

    def __init__(self, stream: int) -> None:
        os.set_blocking(stream, False)
        self._stream = stream
        self._rest = b""

    def until_nobody_takes(self, many: int = MANY) -> int:
        """How many whole messages were taken before no more were, for a while."""
        sent = 0
        while sent < many and select.select([], [self._stream], [], 1)[1]:
            self._rest = self._rest or MESSAGE + b"\n"
            self._rest = self._rest[os.write(self._stream, self._rest) :]
            sent += not self._rest
        return sent


def test_a_slow_agent_slows_the_guard_down(tmp_path: Path) -> None:
    with playing(tmp_path) as guard, relaying(tmp_path) as agent:
        conversation = guard.accepted()
        met(agent, conversation)
        flood = Flood(conversation.connection.fileno())
        sent = flood.until_nobody_takes()
        assert 0 < sent < LITTLE
        assert [agent.heard() for _ in range(sent)] == [MESSAGE] * sent
        assert flood.until_nobody_takes(1) == 1
        assert agent.heard() == MESSAGE


def test_a_slow_guard_slows_the_agent_down(tmp_path: Path) -> None:
    with playing(tmp_path) as guard, relaying(tmp_path) as agent:
        conversation = guard.accepted()
        sent = Flood(agent.input).until_nobody_takes()
        assert 0 < sent < LITTLE
        assert [conversation.heard() for _ in range(sent)] == [MESSAGE] * sent


def test_streams_that_do_not_block_are_waited_for(tmp_path: Path) -> None:
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    command = [*MCPGUARD, "stdio", "--data-dir", str(tmp_path)]
    with ours, playing(tmp_path) as guard:
        relay = subprocess.Popen(
            command,
            stdin=theirs.fileno(),
            stdout=theirs.fileno(),
            stderr=subprocess.PIPE,
            env=environment({}),
            cwd=ROOT,
        )
        with theirs, relay:
            conversation = guard.accepted()
            ours.sendall(PING + b"\n")
            assert conversation.heard() == PING
            speaking = threading.Thread(target=conversation.say, args=[MESSAGE] * LITTLE)
            speaking.start()
            until(lambda: select.select([], [theirs], [], 0)[1] == [], "its output is full")
            with ours.makefile("rb") as answers:
                assert [answers.readline() for _ in range(LITTLE)] == [MESSAGE + b"\n"] * LITTLE
            speaking.join()
            ours.shutdown(socket.SHUT_WR)
            assert conversation.heard() == b""
            conversation.end()
            assert relay.wait(PATIENCE) == 0


@pytest.mark.parametrize("closed", ["<&-", ">&-"])
def test_an_agent_without_streams_is_told(tmp_path: Path, closed: str) -> None:
    command = ["sh", "-c", f'exec "$@" {closed}', "sh", *MCPGUARD, "stdio", "--data-dir", str(tmp_path)]
    with playing(tmp_path) as guard:
        told = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=PATIENCE, env=environment({}), cwd=ROOT
        )
        assert guard.nobody_came()
    assert (told.returncode, told.stdout) == (1, "")
    assert told.stderr.startswith("mcpguard: standard input and output must be open")


def test_a_relay_imports_nothing_slow(tmp_path: Path) -> None:
    program = (
        "import runpy, sys\n"
        "try: runpy.run_module('mcpguard', run_name='__main__')\n"
        "finally: print(*sys.modules, file=sys.stderr)"
    )
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"mcpguard": {"data_dir": str(tmp_path)}}))
    command = (sys.executable, "-c", program, "stdio", "--config")
    with playing(tmp_path) as guard, relaying(config, command=command) as agent:
        guard.echoing()
        agent.say(request(1))
        assert json.loads(agent.heard())["id"] == 1
        agent.close()
        code, imported = agent.ended()
    assert code == 0
    assert "mcpguard.relay.traffic" in imported.split()
    assert not {name.partition(".")[0] for name in imported.split()} & SLOW
    assert not {"mcpguard.settings", "mcpguard.store", "asyncio"} & {*imported.split()}
