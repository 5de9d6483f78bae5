"""`mcpguard serve`."""

import os
from typing import Annotated

import typer

from mcpguard import __version__
from mcpguard.app.listeners import Listening
from mcpguard.app.places import signing_key
from mcpguard.app.running import Running
from mcpguard.app.serve import serve as run
from mcpguard.cli.common import Config, DataDir, loaded, telling
from mcpguard.settings.load import Loaded, load


def serve(
    config: Config = None,
    listen: Annotated[str | None, typer.Option(metavar="HOST:PORT", help="The address to listen on.")] = None,
    data_dir: DataDir = None,
    idle_exit: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", min=1, help="End when no agent was connected for so long."),
    ] = None,
    demo: Annotated[bool, typer.Option("--demo", help="Bring two small servers to try, into quarantine.")] = False,
) -> None:
    """Start the guard and run until SIGTERM or Ctrl-C. Prints where everything is."""

    found = loaded(config, listen=listen, data_dir=data_dir)

    def load_again() -> Loaded:
        return load({"listen": listen, "data_dir": data_dir}, os.environ, config)

    def announce(now: Running, where: Listening) -> None:
        for line in _places(found, now, where):
            typer.echo(line, err=True)

    with telling():
        run(found, load_again, announce, idle_exit, demo=demo)


def _places(found: Loaded, now: Running, where: Listening) -> list[str]:
    file = found.config_file or "none (settings come from the environment and defaults)"
    status = now.guard.status()
    waiting = sum(server.standing == "quarantined" for server in status.servers)
    return [
        f"mcpguard {__version__} is running",
        f"  agents           {where.url}/mcp  (every tool: {where.url}/mcp/all, one server: {where.url}/mcp/only/NAME)",
        f"  agents on stdio  mcpguard stdio --data-dir {status.data_dir}",
        f"  console          {where.url}/",
        f"  health           {where.url}/healthz  {where.url}/readyz",
        f"  operator socket  {where.operator}",
        f"  configuration    {file}",
        f"  data directory   {status.data_dir}",
        f"  database         {status.database} (schema {status.schema})",
        f"  audit log        chain {status.ledger.chain}, {status.ledger.records:,} records",
        f"  signing key      {signing_key(found.settings)} (public: {status.ledger.key})",
        f"  sandbox          {'works' if status.sandbox.works else f'NONE: {status.sandbox.why}'}",
        f"  servers          {len(status.servers)}, of which {waiting} wait in quarantine (mcpguard server list)",
        *([f"  first admin      {where.first}  (good once, for half an hour)"] if where.first else []),
        "Stop it with Ctrl-C or SIGTERM. Ask it with: mcpguard status · mcpguard audit list · mcpguard audit verify",
    ]
