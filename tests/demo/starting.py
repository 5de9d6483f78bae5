"""How tests start a demonstration server: by hand, by the SDK's client, by a guard."""

import json
import subprocess
import sys
from collections.abc import Sequence

from mcp.client.stdio import StdioServerParameters

from mcpguard.domain.servers.launches import DeclaredServer, Era, Profile, StdioLaunch, Templates
from tests.patience import PATIENCE
from tests.process import ROOT, environment
from tests.simulators.words import CLIENT_CAPABILITIES, MODERN, PROTOCOL_VERSION, Json

DEMO = (sys.executable, "-m", "mcpguard.demo")
MODES = ("legacy", "auto", MODERN)
HERE = {"PYTHONPATH": str(ROOT)}
ENVELOPE: Json = {PROTOCOL_VERSION: MODERN, CLIENT_CAPABILITIES: {}}


def by_client(which: str, **environ: str) -> StdioServerParameters:
    """What the SDK's client starts."""
    return StdioServerParameters(command=DEMO[0], args=[*DEMO[1:], which], env={**HERE, **environ})


def by_guard(name: str, which: str, era: Era = Era.AUTO, **environ: str) -> DeclaredServer:
    """What a guard starts."""
    launch = StdioLaunch(DEMO[0], (*DEMO[1:], which), Templates({**HERE, **environ}), None, profile=Profile.NONE)
    return DeclaredServer(name, name, launch, era=era)


def asked(id_: object, method: str, **params: object) -> bytes:
    """A request of the modern era, as a line."""
    said = {"jsonrpc": "2.0", "id": id_, "method": method, "params": {**params, "_meta": ENVELOPE}}
    return json.dumps(said).encode()


def answered(*lines: bytes, which: str = "honest", command: Sequence[str] = DEMO, **environ: str) -> list[Json]:
    """Everything that the server says to these lines. It ends by itself, and complains of nothing."""
    done = subprocess.run(
        [*command, which],
        input=b"\n".join(lines),
        capture_output=True,
        check=False,
        timeout=PATIENCE,
        cwd=ROOT,
        env=environment(environ),
    )
    assert (done.returncode, done.stderr) == (0, b"")
    return [json.loads(line) for line in done.stdout.splitlines()]
