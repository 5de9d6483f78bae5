"""The client with which commands query the guard as an agent: on the agents' socket, using the guard's own tools.

A shell does not bypass scopes: without a token, it is anonymous like any other agent.
"""

import itertools
import json
import os
import socket
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NoReturn

import typer

from mcpguard.cli.shared.data_folder import data_directory
from mcpguard.cli.shared.progress import show_waiting
from mcpguard.codec.envelope import CUT, MORE
from mcpguard.codec.refusals import refusal_facts
from mcpguard.relay.credential import token
from mcpguard.relay.place import agents_socket
from mcpguard.relay.problem import CannotRelay
from mcpguard.text.visible import visible

HELLO_SECONDS: Final = 10.0
LARGEST: Final = 64 * 1024 * 1024
_VERSION: Final = "2025-11-25"


class Agent:
    """A client of the guard face. Whatever goes wrong is printed on standard error and ends the command with 1."""

    def __init__(
        self, config: Path | None, data_dir: Path | None, seconds: float, environ: Mapping[str, str] = os.environ
    ) -> None:
        self._path = agents_socket(data_directory(config, data_dir))
        self._seconds = seconds
        self._environ = environ

    def call(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Call a tool of the guard face and return its answer. A long reply is read to its end."""
        try:
            shown = token(self._environ)
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as guard:
                guard.settimeout(HELLO_SECONDS)
                guard.connect(str(self._path))
                return self._talked(guard, shown, tool, arguments)
        except CannotRelay as error:
            self._fail(str(error))
        except (FileNotFoundError, ConnectionRefusedError):
            self._fail(f"no guard is running here ({self._path}); start one with mcpguard serve")
        except TimeoutError:
            self._fail("the guard did not answer in time; the call may have been made")
        except (OSError, ValueError) as error:
            self._fail(f"the guard cannot be reached: {error}")

    def _talked(
        self, guard: socket.socket, shown: str | None, tool: str, arguments: Mapping[str, Any]
    ) -> dict[str, Any]:
        answers = _lines(guard)
        _say(guard, {"mcpguard": 1, "face": "guard", "only": None, "token": shown})
        hello = next(answers, {})
        if hello.get("mcpguard") != 1:
            self._fail(f"the guard refuses: {hello.get('error', 'it said nothing')}")
        guard.settimeout(self._seconds)
        us = {"name": "mcpguard command line", "version": "1"}
        said = {"protocolVersion": _VERSION, "capabilities": {}, "clientInfo": us}
        _say(guard, {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": said})
        _answer(answers, 1)
        _say(guard, {"jsonrpc": "2.0", "method": "notifications/initialized"})
        numbers = itertools.count(2)

        def made(name: str, given: Mapping[str, Any]) -> dict[str, Any]:
            return self._made(guard, answers, next(numbers), {"name": name, "arguments": dict(given)})

        result = made(tool, arguments)
        while (place := next_page(result)) is not None:
            page = made(MORE, {"key": place["key"], "offset": place["end"]})
            if page.get("isError"):
                self._fail(f"the rest of the reply cannot be read: {page['content'][0]['text']}")
            result = join_page(result, page)
        return result

    def _made(
        self, guard: socket.socket, answers: Iterator[dict[str, Any]], number: int, params: Mapping[str, Any]
    ) -> dict[str, Any]:
        _say(guard, {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})
        with show_waiting(lambda: "waiting for the answer"):
            answer = _answer(answers, number)
        if "error" in answer:
            self._fail(f"the guard answers with an error: {answer['error'].get('message')}")
        result: dict[str, Any] = answer["result"]
        return result

    def _fail(self, sentence: str) -> NoReturn:
        typer.echo(f"mcpguard: {visible(sentence)}", err=True)
        raise typer.Exit(1)


def answer_facts(result: Mapping[str, Any]) -> Mapping[str, Any]:
    """The structured answer of a tool, or the facts of a refusal; empty if there is nothing but text."""
    structure = result.get("structuredContent")
    return refusal_facts(result) or (structure if isinstance(structure, dict) else {})


def next_page(result: Mapping[str, Any]) -> dict[str, Any] | None:
    """The place at which a truncated reply goes on; None if it is complete, or the rest cannot be read."""
    place: dict[str, Any] = result.get("_meta", {}).get(CUT, {"end": 0, "total": 0})
    return place if place["end"] < place["total"] and "key" in place else None


def join_page(result: dict[str, Any], page: Mapping[str, Any]) -> dict[str, Any]:
    """Add one more page to a reply. The last text of each says where it was cut."""
    *content, _ = result["content"]
    text, notice = page["content"]
    last = content[-1] if content else {}
    if last.get("type") == "text" and isinstance(last.get("text"), str):
        text = {"type": "text", "text": content.pop()["text"] + text["text"]}
    content.append(text)
    place = page["_meta"][CUT]
    meta = {key: value for key, value in result["_meta"].items() if key != CUT}
    if place["end"] == place["total"]:
        return {**result, "content": content, "_meta": meta}
    return {**result, "content": [*content, notice], "_meta": meta | {CUT: place}}


def _say(guard: socket.socket, message: Mapping[str, Any]) -> None:
    guard.sendall(json.dumps(message).encode() + b"\n")


def _answer(answers: Iterator[dict[str, Any]], number: int) -> dict[str, Any]:
    """The answer to this request; other messages are ignored."""
    for message in answers:
        if message.get("id") == number and "method" not in message:
            return message
    raise ValueError("it closed the connection")


def _lines(guard: socket.socket) -> Iterator[dict[str, Any]]:
    left = b""
    while data := guard.recv(65_536):
        left += data
        *whole, left = left.split(b"\n")
        for line in whole:
            message = json.loads(line)
            if isinstance(message, dict):
                yield message
        if len(left) > LARGEST:
            raise ValueError("its answer is too large")
