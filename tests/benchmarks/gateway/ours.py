"""Nothing at all, and mcpguard as it is shipped: a process, the ledger on, SQLite."""

import json
import sys
from pathlib import Path

from tests.benchmarks.gateway.contender import Contender, Launch, Place, Way
from tests.benchmarks.gateway.speech import Era
from tests.process import run

SERVED, RELAYED = "mcpguard", "mcpguard stdio"
NAMES = frozenset({SERVED, RELAYED})
_DATA = "data"
_MODULE = (sys.executable, "-P", "-m", "mcpguard")


def directly(place: Place) -> Launch:
    """The upstream itself."""
    (upstream,) = place.upstreams
    if upstream.url:
        port, _, path = upstream.url.removeprefix("http://127.0.0.1:").partition("/")
        return Launch(path=f"/{path}", port=int(port))
    return Launch(upstream.command)


def served(place: Place) -> Launch:
    """`mcpguard serve`, which answers over HTTP."""
    listen, data = f"127.0.0.1:{place.port}", str(place.folder / _DATA)
    options = ("--config", _configured(place), "--listen", listen, "--data-dir", data)
    return Launch((*_MODULE, "serve", *options), path="/mcp/all", port=place.port)


def relayed(place: Place) -> Launch:
    """`mcpguard stdio`, which starts a guard for itself and carries messages to it."""
    data = str(place.folder / _DATA)
    options = ("--config", _configured(place), "--data-dir", data, "--face", "direct")
    environ = {"MCPGUARD_LISTEN": f"127.0.0.1:{place.port}"}
    return Launch((*_MODULE, "stdio", *options), environ, detached=data)


def check_ledger(folder: Path, calls: int) -> None:
    """Every call that was answered has been recorded, its opening and its closing."""
    asked = run("status", "--output", "json", "--data-dir", folder / _DATA)
    records = json.loads(asked.stdout)["ledger"]["records"]
    if records < 2 * calls:
        raise RuntimeError(f"{calls} calls were answered, but the ledger has only {records} records")


def contenders() -> list[Contender]:
    found = []
    for upstream in Way:
        for era in Era:
            found.append(Contender("direct", upstream, upstream, era, directly, is_gateway=False))
            many = era is Era.MODERN
            found.append(Contender(SERVED, Way.HTTP, upstream, era, served, ours=True, aggregates=many))
    found += [Contender(RELAYED, Way.STDIO, Way.STDIO, era, relayed, ours=True) for era in Era]
    return found


def _configured(place: Place) -> str:
    servers: dict[str, object] = {
        upstream.name: {"type": "http", "url": upstream.url}
        if upstream.url
        else {"command": upstream.command[0], "args": upstream.command[1:]}
        for upstream in place.upstreams
    }
    file = place.folder / "config.json"
    own = {"upstreams": {"networks": ["127.0.0.0/8"]}}
    file.write_text(json.dumps({"mcpServers": servers, "mcpguard": own}))
    return str(file)
