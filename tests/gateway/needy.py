"""A server that needs more than its sandbox gives it, and reports what came of it as servers do."""

import sys
from typing import Any

from mcpguard.domain.servers.launches import DeclaredServer, Mount, Profile, StdioLaunch

_CODE = """
import json, os, pathlib, socket, sys

NAMES = ("resolve", "write", "own", "fine", "wrong", "fall", "open", "keep")
TOOLS = [{"name": name, "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}} for name in NAMES]
TOOLS[6]["annotations"]["openWorldHint"] = True
TOOLS[7]["annotations"] = {"readOnlyHint": False, "openWorldHint": False}


def tool(name, given):
    if name == "resolve":
        socket.getaddrinfo("nobody.example", 443)
    if name == "write":
        pathlib.Path("/usr/memory.json").write_text("x")
    if name == "own":
        raise ValueError("there is no such note")
    if name == "fall":
        print("Error: getaddrinfo EAI_AGAIN api.example", file=sys.stderr, flush=True)
        os._exit(1)
    return "the page explains what EROFS and EAI_AGAIN mean"


def answer(method, params):
    if method == "initialize":
        about = {"serverInfo": {"name": "needy", "version": "1"}, "capabilities": {"tools": {}}}
        return {"result": about | {"protocolVersion": "2025-06-18"}}
    if method == "tools/list":
        return {"result": {"tools": TOOLS}}
    if method == "tools/call" and params["name"] == "wrong":
        return {"error": {"code": -32000, "message": "Could not resolve host: api.example", "data": {"n": 1}}}
    if method == "tools/call":
        try:
            said, failed = tool(params["name"], params.get("arguments")), False
        except Exception as error:
            said, failed = str(error), True
        return {"result": {"content": [{"type": "text", "text": said}], "isError": failed}}
    return {"error": {"code": -32601, "message": "unknown"}}


print(*sys.argv[2:], file=sys.stderr, flush=True)
if sys.argv[1] == "fall":
    sys.exit(1)
for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        reply = {"jsonrpc": "2.0", "id": message["id"], **answer(message["method"], message.get("params"))}
        print(json.dumps(reply), flush=True)
"""


def needy(
    profile: Profile = Profile.STRICT, *mounts: Mount, complains: str = "ready", falls: bool = False
) -> DeclaredServer:
    """`complains`: what it writes to its standard error as it starts; `falls`: that it ends right then."""
    arguments = ("-I", "-S", "-u", "-c", _CODE, "fall" if falls else "stay", complains)
    return DeclaredServer("web", "web", StdioLaunch(sys.executable, arguments, profile=profile, mounts=mounts))


def texts(result: Any) -> list[str]:  # noqa: ANN401 - JSON
    return [each["text"] for each in result["content"]]
