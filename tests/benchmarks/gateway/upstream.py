"""The server behind every gateway: raw JSON-RPC in both eras, and nothing that takes time.

    python -E -S upstream.py stdio TOOLS        on the standard streams, a line each
    python -E -S upstream.py http PORT TOOLS    streamable HTTP with JSON replies, the same at every path

`echo` returns its text. `era` returns the era in which the server was spoken to, so that it can be told which one a
gateway uses. The rest only fill lists. It imports nothing that is not Python's own: every gateway can start it.
"""

import asyncio
import json
import os
import sys
from typing import Any

CHUNK = 65_536
HANDSHAKE = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN = "2026-07-28"
META = "io.modelcontextprotocol/"
INFO = {"name": "upstream", "version": "1"}
STATUSES = {
    200: b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ",
    202: b"HTTP/1.1 202 Accepted\r\ncontent-length: ",
    404: b"HTTP/1.1 404 Not Found\r\ncontent-type: application/json\r\ncontent-length: ",
    405: b"HTTP/1.1 405 Method Not Allowed\r\nallow: POST\r\ncontent-length: ",
}
Json = dict[str, Any]


def tools(count: int) -> list[Json]:
    """So many tools, each about as long as tools are."""
    return [_tool("echo", "Returns the text."), _tool("era", "Returns the era."), *map(_filler, range(2, count))]


def _filler(number: int) -> Json:
    about = f"Looks up the records of department {number} that match what is asked, newest first. Use it for figures"
    return _tool(f"look_up_{number:03}", f"{about} and for names, but not for documents. It only reads.")


def _tool(name: str, description: str) -> Json:
    properties = {
        "text": {"type": "string", "description": "What to look for, in the words of the user."},
        "limit": {"type": "integer", "minimum": 1, "maximum": 500, "description": "How many records at most."},
        "order": {"type": "string", "enum": ["newest", "oldest", "best"], "description": "Which of them come first."},
    }
    return {
        "name": name,
        "description": description,
        "inputSchema": {"type": "object", "properties": properties},
        "annotations": {"readOnlyHint": True},
    }


class Server:
    """Answers messages."""

    def __init__(self, count: int) -> None:
        self._tools = tools(count)
        self._methods = {
            "tools/call": self._call,
            "tools/list": self._list,
            "initialize": self._initialize,
            "server/discover": self._discover,
            "ping": self._ping,
        }

    def answer(self, line: bytes) -> tuple[int, bytes]:
        """The HTTP status and the answer, which is empty where none is wanted."""
        said = json.loads(line)
        if "id" not in said or "method" not in said:
            return 202, b""
        params = said.get("params") or {}
        modern = META + "protocolVersion" in (params.get("_meta") or {})
        method = self._methods.get(said["method"])
        if method is None:
            return 404 if modern else 200, _failure(said["id"], said["method"])
        result = method(params, modern)
        if modern:
            result["resultType"] = "complete"
            result["_meta"] = {META + "serverInfo": INFO}
        return 200, json.dumps({"jsonrpc": "2.0", "id": said["id"], "result": result}).encode()

    def _call(self, params: Json, modern: bool) -> Json:
        era = "modern" if modern else "handshake"
        text = era if params["name"] == "era" else params["arguments"]["text"]
        return {"content": [{"type": "text", "text": text}]}

    def _list(self, _params: Json, modern: bool) -> Json:
        return {"tools": self._tools} | ({"ttlMs": 60_000, "cacheScope": "private"} if modern else {})

    def _initialize(self, params: Json, _modern: bool) -> Json:
        asked = params["protocolVersion"]
        version = asked if asked in HANDSHAKE else HANDSHAKE[-1]
        return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": INFO}

    def _discover(self, _params: Json, _modern: bool) -> Json:
        hints = {"ttlMs": 60_000, "cacheScope": "private"}
        return {"supportedVersions": [MODERN], "capabilities": {"tools": {}}, **hints}

    def _ping(self, _params: Json, _modern: bool) -> Json:
        return {}


def _failure(id_: object, method: str) -> bytes:
    error = {"code": -32601, "message": f"there is no {method} here"}
    return json.dumps({"jsonrpc": "2.0", "id": id_, "error": error}).encode()


def on_streams(server: Server) -> None:
    """Until standard input ends. What came together is answered together."""
    rest = b""
    while data := os.read(0, CHUNK):
        *lines, rest = (rest + data).split(b"\n")
        answers = (server.answer(line)[1] for line in lines if line.strip())
        said = memoryview(b"".join(answer + b"\n" for answer in answers if answer))
        while said:
            said = said[os.write(1, said) :]


class Connection(asyncio.Protocol):
    """One client's connection, which stays open from one request to the next."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._unread = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._unread += data
        while (end := self._unread.find(b"\r\n\r\n")) >= 0:
            head = self._unread[:end].lower()
            begin, length = end + 4, _length(head)
            if len(self._unread) < begin + length:
                return
            body = self._unread[begin : begin + length]
            self._unread = self._unread[begin + length :]
            self._transport.write(self._reply(head, body))

    def _reply(self, head: bytes, body: bytes) -> bytes:
        if head.startswith(b"post "):
            status, said = self._server.answer(body)
        else:
            status, said = (202 if head.startswith(b"delete ") else 405), b""
        return b"%b%d\r\n\r\n%b" % (STATUSES[status], len(said), said)


def _length(head: bytes) -> int:
    """Of the body. All clients here say it; a body in chunks would be misunderstood, so it ends the connection."""
    if b"transfer-encoding:" in head:
        raise ValueError("a body in chunks")
    _, _, rest = head.partition(b"\r\ncontent-length:")
    return int(rest.partition(b"\r\n")[0]) if rest else 0


async def on_port(server: Server, port: int, connection: type[Connection] = Connection) -> None:
    listening = await asyncio.get_running_loop().create_server(lambda: connection(server), "127.0.0.1", port)
    await listening.serve_forever()


def main() -> None:
    how, *rest = sys.argv[1:]
    if how == "stdio":
        on_streams(Server(int(rest[0])))
    else:
        asyncio.run(on_port(Server(int(rest[1])), int(rest[0])))


if __name__ == "__main__":
    main()
