"""Other gateways that install from the package index and answer over streamable HTTP, with their logs kept short.

Tried and left out: `mcp-gateway` 1.2, which does not start with the SDK that its own requirements bring, and
`mcp-contextforge-gateway` 1.0, which takes servers only from an administrator with a token.
"""

import json
import subprocess
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

from tests.benchmarks.gateway.contender import CannotRun, Contender, Launch, Place, Upstream, Way
from tests.benchmarks.gateway.install import installed, version
from tests.benchmarks.gateway.ours import NAMES
from tests.benchmarks.gateway.speech import Era
from tests.process import environment

PROXY = "mcp-proxy"
FASTMCP_PROXY = Path(__file__).with_name("fastmcp_proxy.py")
_FASTMCP = {"kept": "client kept", "shipped": "as shipped"}


def contenders(only: str) -> tuple[list[Contender], list[str]]:
    """Those that could be installed, and a sentence for each of the others. None if `only` means one of ours."""
    return _installed(package for package in _PACKAGES if only in package or not any(only in name for name in NAMES))


def proxies() -> tuple[list[Contender], list[str]]:
    """The one that does nothing else, or a sentence that says why it could not be installed."""
    return _installed([PROXY])


def _installed(packages: Iterable[str]) -> tuple[list[Contender], list[str]]:
    found, missing = [], []
    for package in packages:
        try:
            programs, name = installed(package), f"{package} {version(package)}"
        except CannotRun as why:
            missing.append(f"{package} does not take part: {why}")
        else:
            found += _PACKAGES[package](name, programs)
    return found, missing


def _fastmcp(name: str, programs: Path) -> list[Contender]:
    found = []
    for how, words in _FASTMCP.items():
        over_http, on_streams = (partial(_fastmcp_launch, programs, how, front) for front in Way)
        title = f"{name}, {words}"
        for era in Era:
            many = era is Era.MODERN
            found += [Contender(title, Way.HTTP, way, era, over_http, aggregates=many) for way in Way]
            if how == "kept":
                found.append(Contender(f"{title}, stdio", Way.STDIO, Way.STDIO, era, on_streams))
    return found


def _fastmcp_launch(programs: Path, how: str, front: Way, place: Place) -> Launch:
    servers = {upstream.name: _server(upstream) for upstream in place.upstreams}
    port = place.port if front is Way.HTTP else 0
    asked = json.dumps({"how": how, "servers": servers, "port": port})
    command = (str(programs / "python"), str(FASTMCP_PROXY), asked)
    return Launch(command, path="/mcp" if port else None, port=port)


def _server(upstream: Upstream) -> dict[str, Any]:
    if upstream.url:
        return {"url": upstream.url}
    return {"command": upstream.command[0], "args": upstream.command[1:]}


def _mcp_proxy(name: str, programs: Path) -> list[Contender]:
    """It knows only the handshake, and over HTTP only upstreams that are processes."""

    def launch(place: Place) -> Launch:
        options = ("--host", "127.0.0.1", "--port", str(place.port), "--log-level", "WARNING")
        (upstream,) = place.upstreams
        return Launch((str(programs / "mcp-proxy"), *options, "--", *upstream.command), path="/mcp", port=place.port)

    return [Contender(name, Way.HTTP, Way.STDIO, Era.HANDSHAKE, launch)]


def _mcpm(name: str, programs: Path) -> list[Contender]:
    """It knows only the handshake, and keeps what it knows in the user's home."""
    program = str(programs / "mcpm")

    def launch(place: Place) -> Launch:
        (upstream,) = place.upstreams
        environ = {"HOME": str(place.folder)}
        said = ["--type", "remote", "--url", upstream.url]
        if upstream.command:
            said = ["--type", "stdio", "--command", upstream.command[0], "--args", " ".join(upstream.command[1:])]
        made = subprocess.run(
            [program, "new", upstream.name, *said, "--force"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            env=environment(environ),
        )
        if made.returncode:
            raise CannotRun(f"it does not take the server: {made.stdout} {made.stderr}")
        command = (program, "run", "--http", "--host", "127.0.0.1", "--port", str(place.port), upstream.name)
        return Launch(command, environ, path="/mcp", port=place.port)

    return [Contender(name, Way.HTTP, upstream, Era.HANDSHAKE, launch) for upstream in Way]


_PACKAGES: dict[str, Callable[[str, Path], list[Contender]]] = {
    "fastmcp": _fastmcp,
    PROXY: _mcp_proxy,
    "mcpm": _mcpm,
}
