"""`python -m mcpguard.demo`, and what a server answers to whatever comes."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

import pytest

from tests.demo.starting import DEMO, answered, asked
from tests.patience import PATIENCE
from tests.process import ROOT, environment, run
from tests.simulators.words import CLIENT_CAPABILITIES, LEGACY, PROTOCOL_VERSION, Json

STREAMS = "standard input and output must be open; a client speaks through them"
LOADED = """
import sys
before = {*sys.modules}
import mcpguard.demo
assert not any(name.startswith("mcpguard.demo.") for name in sys.modules)
import mcpguard.demo.__main__
print(*{*sys.modules} - before)
"""


def said(method: str, params: Json | None = None, **more: object) -> bytes:
    """A message of the handshake's era, as a line."""
    return json.dumps({"jsonrpc": "2.0", "method": method, "params": params or {}, **more}).encode()


def test_help_says_what_there_is() -> None:
    told = run("--help", command=DEMO)
    assert (told.returncode, told.stderr) == (0, "")
    assert all(word in told.stdout for word in ("honest", "poisoned", "MCPGUARD_DEMO_CHANGED=1"))


@pytest.mark.parametrize("words", [("",), ("hones",), ("honest", "poisoned"), ("a\x1b[2J",), ()])
def test_a_wrong_word_is_refused_with_a_sentence(words: tuple[str, ...]) -> None:
    told = run(*words, command=DEMO)
    assert (told.returncode, told.stdout) == (2, "")
    assert told.stderr.startswith("mcpguard.demo: ")
    assert told.stderr.count("\n") == 1
    assert told.stderr.isascii()
    assert "\x1b" not in told.stderr


def test_without_streams_there_is_no_server() -> None:
    told = run("-c", 'exec "$@" <&-', "sh", *DEMO, "honest", command=("/bin/sh",))
    assert (told.returncode, told.stderr) == (2, f"mcpguard.demo: {STREAMS}\n")


def test_importing_it_starts_nothing_and_loads_nothing_but_pythons_own() -> None:
    told = run("-c", LOADED, command=DEMO[:1])
    assert (told.returncode, told.stderr) == (0, "")
    loaded = told.stdout.split()
    assert "mcpguard.demo.weather" in loaded
    ours = {name for name in loaded if name.startswith("mcpguard")}
    assert {name for name in ours if not name.startswith("mcpguard.demo")} == {"mcpguard"}
    assert {name.partition(".")[0] for name in loaded} - {"mcpguard"} <= sys.stdlib_module_names
    assert not {"asyncio", "socket", "subprocess", "threading"} & {*loaded}


@pytest.mark.parametrize("revision", LEGACY)
def test_every_revision_with_a_handshake_is_spoken(revision: str) -> None:
    hello, ping, tools = answered(
        said("initialize", {"protocolVersion": revision}, id="a"),
        said("notifications/initialized"),
        said("ping", id="b"),
        said("tools/list", id="c"),
    )
    assert (hello["id"], hello["result"]["protocolVersion"]) == ("a", revision)
    assert ping == {"jsonrpc": "2.0", "id": "b", "result": {}}
    assert {*tools["result"]} == {"tools"}, "nothing of the modern era's envelope"


def test_a_revision_that_nobody_knows_is_answered_with_the_newest() -> None:
    (hello,) = answered(said("initialize", {"protocolVersion": ["1999"]}, id=1))
    assert hello["result"]["protocolVersion"] == LEGACY[0]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"this is no message", -32700),
        (b"\xff\xfe\xfd", -32700),
        (b"[" * 100_000, -32700),
        (b"[]", -32600),
        (b'"text"', -32600),
        (said("ping", id=None), -32600),
        (said("ping", id=True), -32600),
        (said("ping", id=1.5), -32600),
        (said("tools/list", id=1), -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', -32602),
        (said("tools/list", {"_meta": {PROTOCOL_VERSION: "2026-07-28"}}, id=1), -32602),
        (said("tools/list", {"_meta": {PROTOCOL_VERSION: 7, CLIENT_CAPABILITIES: {}}}, id=1), -32602),
        (said("tools/list", {"_meta": {PROTOCOL_VERSION: "2099-01-01", CLIENT_CAPABILITIES: {}}}, id=1), -32022),
        (asked(1, "initialize"), -32601),
        (asked(1, "no/such/method"), -32601),
        (asked(1, "tools/list", cursor="2"), -32602),
        (asked(1, "tools/call", name="nothing"), -32602),
        (asked(1, "tools/call", name=7), -32602),
        (asked(1, "tools/call", name="list_notes", arguments=[]), -32602),
        (asked(1, "resources/read", uri="note://nothing"), -32602),
        (asked(1, "prompts/get", name="nothing"), -32602),
        (asked(1, "prompts/get", name="summarize_note", arguments={"name": "nothing"}), -32602),
    ],
)
def test_what_cannot_be_answered_is_refused_and_the_server_goes_on(line: bytes, code: int) -> None:
    refused, after = answered(line, asked("after", "tools/list"))
    assert refused["error"]["code"] == code
    assert after["id"] == "after"
    assert after["result"]["tools"]


def test_a_resource_that_is_missing_has_its_own_code_up_to_2025() -> None:
    _, refused = answered(said("initialize", id=1), said("resources/read", {"uri": "note://nothing"}, id=2))
    assert refused["error"]["code"] == -32002


def test_what_wants_no_answer_gets_none() -> None:
    assert answered(b"", b"  ", said("notifications/unheard_of"), b'{"jsonrpc":"2.0","id":1,"result":{}}') == []


@contextmanager
def started() -> Iterator[tuple[subprocess.Popen[bytes], IO[bytes], IO[bytes], IO[bytes]]]:
    """A server, with its input, its output and its errors."""
    with subprocess.Popen(
        [*DEMO, "honest"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        cwd=ROOT,
        env=environment({}),
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        yield process, process.stdin, process.stdout, process.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_without_a_word(number: signal.Signals) -> None:
    with started() as (process, tell, hear, errors):
        tell.write(asked(1, "tools/list") + b"\n")
        assert json.loads(hear.readline())["id"] == 1
        process.send_signal(number)
        assert process.wait(PATIENCE) == -number
        assert errors.read() == b""


def test_a_client_that_hears_no_more_ends_it_without_a_word() -> None:
    with started() as (process, tell, hear, errors):
        hear.close()
        tell.write(asked(1, "tools/list") + b"\n")
        assert process.wait(PATIENCE) == -signal.SIGPIPE
        assert errors.read() == b""
