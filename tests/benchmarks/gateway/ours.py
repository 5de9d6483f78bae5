"""Nothing at all, and mcpguard as it is shipped: a process, the ledger on, SQLite.

What is measured is a guard whose servers a person has approved: that is done before, by a guard of its own, which ends.
"""

import json
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from tests.benchmarks.gateway.contender import Contender, Launch, Place, Way
from tests.benchmarks.gateway.speech import Era
from tests.process import approve, run, serving

SERVED, RELAYED = "mcpguard", "mcpguard stdio"
NAMES = frozenset({SERVED, RELAYED})
COUNTED: Final = 10_000_000
"""Calls of a caller in a minute: a budget that is counted and never used up."""
AS_SAID: Final[Mapping[str, str]] = MappingProxyType({})
NOTHING: Final[Mapping[str, object]] = MappingProxyType({})
_DATA = "data"
_MODULE = (sys.executable, "-P", "-m", "mcpguard")


def directly(place: Place) -> Launch:
    """The upstream itself."""
    (upstream,) = place.upstreams
    if upstream.url:
        port, _, path = upstream.url.removeprefix("http://127.0.0.1:").partition("/")
        return Launch(path=f"/{path}", port=int(port))
    return Launch(upstream.command)


def served(
    place: Place, budget: int = 0, own: Mapping[str, object] = NOTHING, effects: Mapping[str, str] = AS_SAID
) -> Launch:
    """`mcpguard serve`, which answers over HTTP. `budget`: the calls of a caller in a minute, if they are counted;
    `own`: more settings of the guard; `effects`: of tools of the first upstream, where a person gave them another than
    they say."""
    options = (
        "--config",
        _approved(place, budget, own, effects),
        "--listen",
        _listen(place),
        "--data-dir",
        str(place.folder / _DATA),
    )
    return Launch((*_MODULE, "serve", *options), path="/mcp/all", port=place.port)


def relayed(place: Place) -> Launch:
    """`mcpguard stdio`, which starts a guard for itself and carries messages to it."""
    data = str(place.folder / _DATA)
    options = ("--config", _approved(place), "--data-dir", data, "--face", "direct")
    environ = {"MCPGUARD_LISTEN": _listen(place)}
    return Launch((*_MODULE, "stdio", *options), environ, detached=data)


def records(folder: Path) -> int:
    """How many the ledger of the guard that runs has."""
    asked = run("status", "--output", "json", "--data-dir", folder / _DATA)
    count: int = json.loads(asked.stdout)["ledger"]["records"]
    return count


def check_ledger(folder: Path, before: int, calls: int) -> None:
    """Every call that was answered has been recorded since then, its opening and its closing."""
    made = records(folder) - before
    if made < 2 * calls:
        raise RuntimeError(f"{calls} calls were answered, but the ledger has only {made} records of them")


def contenders() -> list[Contender]:
    found = []
    for upstream in Way:
        for era in Era:
            found.append(Contender("direct", upstream, upstream, era, directly, is_gateway=False))
            many = era is Era.MODERN
            found.append(Contender(SERVED, Way.HTTP, upstream, era, served, ours=True, aggregates=many))
    found += [Contender(RELAYED, Way.STDIO, Way.STDIO, era, relayed, ours=True) for era in Era]
    return found


def _approved(
    place: Place,
    budget: int = 0,
    own: Mapping[str, object] = NOTHING,
    effects: Mapping[str, str] = AS_SAID,
) -> str:
    """The configuration file. A person has approved all that it declares."""
    config, data_dir = _configured(place, budget, own), place.folder / _DATA
    with serving(data_dir, "--config", config, listen=_listen(place), command=_MODULE) as guard:
        for upstream in place.upstreams:
            approve(data_dir, upstream.name)
        for name, effect in effects.items():
            tool = f"{place.upstreams[0].name}:{name}"
            words = ("--effect", effect, "--reason", "it may", "--data-dir", data_dir)
            done = run("tool", "approve", tool, *words)
            if done.returncode:
                raise RuntimeError(f"{tool} was not approved: {done.stderr}")
        guard.signal(signal.SIGTERM)
        if guard.ended() != 0:
            raise RuntimeError(f"the guard for which the servers were approved did not end well: {guard.lines}")
    return config


def _listen(place: Place) -> str:
    return f"127.0.0.1:{place.port}"


def _configured(place: Place, budget: int, own: Mapping[str, object]) -> str:
    servers: dict[str, object] = {
        upstream.name: {"type": "http", "url": upstream.url}
        if upstream.url
        else {"command": upstream.command[0], "args": upstream.command[1:]}
        for upstream in place.upstreams
    }
    file = place.folder / "config.json"
    settings = {
        "upstreams": {"networks": ["127.0.0.0/8"]},
        "anonymous": {"effects": ["read", "write", "destructive"]},
        "budgets": {"caller_minute": budget, "capability_minute": budget},
        **own,
    }
    file.write_text(json.dumps({"mcpServers": servers, "mcpguard": settings}))
    return str(file)
