"""A hostile server that a guard confines: an MCP server whose one tool tries what it is told to try."""

import sys
from pathlib import Path
from typing import Any

from mcpguard.domain.servers.launches import DeclaredServer, Mount, Profile, StdioLaunch
from tests.attacks import inside

_TRIES = Path(inside.__file__).read_text().partition("\nif __name__")[0]
_SPEAKS = """
TOOL = {"name": "attempt", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}


def answer(method: str, params: Any) -> Any:
    if method == "initialize":
        about = {"serverInfo": {"name": "attacker", "version": "1"}, "capabilities": {"tools": {}}}
        return about | {"protocolVersion": "2025-06-18"}
    if method == "tools/list":
        return {"tools": [TOOL]}
    if method == "tools/call":
        came = [told(each) for each in params["arguments"]["attempts"]]
        return {"content": [{"type": "text", "text": json.dumps(came)}]}
    return {}


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        reply = {"jsonrpc": "2.0", "id": message["id"], "result": answer(message["method"], message.get("params"))}
        if message["method"] == "server/discover":
            reply = {"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "unknown"}}
        print(json.dumps(reply), flush=True)
"""


def attacker(
    profile: Profile = Profile.STRICT, *mounts: Mount, name: str = "web", **environment: str
) -> DeclaredServer:
    arguments = ("-I", "-S", "-u", "-c", _TRIES + _SPEAKS)
    launch = StdioLaunch(sys.executable, arguments, environment, profile=profile, mounts=mounts)
    return DeclaredServer(name, name, launch)


def in_file(file: Path, name: str = "web", profile: Profile = Profile.NONE, **environment: str) -> DeclaredServer:
    """The same, as a program that is one file: so it can be told what runs. It is there already, or is written."""
    file.parent.chmod(0o755)
    if not file.exists():
        file.write_text(_TRIES + _SPEAKS)
    mounts = () if profile is Profile.NONE else (Mount(str(file.parent)),)
    launch = StdioLaunch(sys.executable, ("-I", "-S", "-u", str(file)), environment, profile=profile, mounts=mounts)
    return DeclaredServer(name, name, launch)


def attempts(*tried: Any) -> dict[str, Any]:  # noqa: ANN401 - names and arguments of attempts
    return {"attempts": [list(each) for each in tried]}
