"""`mcpguard serve`: starts the guard and prints where everything is."""

import json
import os
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from mcpguard import __version__
from mcpguard.app import demonstration
from mcpguard.app.lifespan import Running
from mcpguard.app.listeners import ListenAddresses
from mcpguard.app.places import signing_key
from mcpguard.app.serve import serve as run
from mcpguard.cli.shared.common import Config, DataDir, load_settings, report_errors, this_program
from mcpguard.guard.servers.status import AnchorStatus
from mcpguard.settings.load import NOTHING, LoadedSettings, load


def serve(
    config: Config = None,
    listen: Annotated[str | None, typer.Option(metavar="HOST:PORT", help="The address to listen on.")] = None,
    data_dir: DataDir = None,
    idle_exit: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", min=1, help="Exit when no agent has been connected for this long."),
    ] = None,
    demo: Annotated[
        bool,
        typer.Option(
            "--demo", help="Add two small demo servers, in quarantine; destructive calls are held for approval."
        ),
    ] = False,
) -> None:
    """Start the guard and run until SIGTERM or Ctrl-C. Prints where everything is."""

    usual = demonstration.SETTINGS if demo else NOTHING
    found = load_settings(config, usual, listen=listen, data_dir=data_dir)

    def load_again() -> LoadedSettings:
        return load({"listen": listen, "data_dir": data_dir}, os.environ, config, usual)

    def announce(now: Running, where: ListenAddresses) -> None:
        for line in announcement(found, now, where, demo=demo):
            typer.echo(line, err=True)

    with report_errors():
        run(found, load_again, announce, idle_exit, demo=demo)


def announcement(found: LoadedSettings, now: Running, where: ListenAddresses, *, demo: bool = False) -> list[str]:
    """The lines that say where everything is, and what to do next."""
    return [*_places(found, now, where), *_next(found, where, demo=demo)]


def _places(found: LoadedSettings, now: Running, where: ListenAddresses) -> list[str]:
    file = found.config_file or "none (settings come from the environment and defaults)"
    status = now.guard.status()
    waiting = sum(server.standing == "quarantined" for server in status.servers)
    program = this_program()
    return [
        f"mcpguard {__version__} is running",
        *_first(where),
        f"  console          {where.url}/",
        f"  agents           {where.url}/mcp  (every tool: {where.url}/mcp/all, one server: {where.url}/mcp/only/NAME)",
        f"  agents on stdio  {program} stdio --data-dir {shlex.quote(str(status.data_dir))}",
        f"  health           {where.url}/healthz  {where.url}/readyz",
        f"  operator socket  {where.operator}",
        f"  configuration    {file}",
        f"  data directory   {status.data_dir}",
        f"  database         {status.database} (schema {status.schema})",
        f"  audit log        chain {status.ledger.chain}, {status.ledger.records:,} records",
        f"  signing key      {signing_key(found.settings)} (public: {status.ledger.key})",
        *_anchors(status.ledger.anchors),
        f"  sandbox          {'works' if status.sandbox.works else f'NONE: {status.sandbox.why}'}",
        f"  servers          {len(status.servers)}, {waiting} in quarantine ({program} server list)",
        f"  client entry     {_entry(where.url)}",
        "",
    ]


def _first(where: ListenAddresses) -> Iterator[str]:
    """The link for the first admin, at the top, where it is seen."""
    yield ""
    if where.first:
        yield f"  first admin      {where.first}"
        yield f"{'':19}Open it in a browser to become the first admin. It works once, for half an hour."
        yield ""


def _entry(url: str) -> str:
    """The entry to paste into the file of a client that speaks HTTP."""
    return json.dumps({"mcpServers": {"mcpguard": {"type": "http", "url": f"{url}/mcp"}}})


def _next(found: LoadedSettings, where: ListenAddresses, *, demo: bool) -> Iterator[str]:
    """Return the lines that say what to do next."""
    program = this_program()
    elsewhere = found.sources["data_dir"].startswith("command line")
    there = f" --data-dir {shlex.quote(str(found.settings.data_dir))}" if elsewhere else ""
    if where.first:
        yield "Open the first admin's link, and review the servers in quarantine."
    if demo:
        yield f"See an agent at work, in a second terminal: {program} tour{there}"
    activate = Path(program).with_name("activate")
    if program != "mcpguard" and activate.is_file():
        yield f"To call it mcpguard in a terminal, type there: . {activate}"
    ask = " · ".join(f"{program} {each}{there}" for each in ("status", "audit list", "audit verify"))
    yield f"Stop it with Ctrl-C or SIGTERM. Look at it with: {ask}"


def _anchors(anchors: AnchorStatus | None) -> Iterator[str]:
    if anchors is not None:
        yield f"  anchor file      {anchors.file}" + (f"  NOT WRITTEN: {anchors.trouble}" if anchors.trouble else "")
        if anchors.rolled_back:
            yield f"  ROLLED BACK      {anchors.rolled_back}"
