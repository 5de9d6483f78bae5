"""`mcpguard config`: what the settings are, whether they are right, and which exist. It starts and changes nothing."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from mcpguard.cli.common import As, Config, DataDir, Output, loaded, print_json, print_table
from mcpguard.settings.document import json_schema
from mcpguard.settings.fields import Json, public
from mcpguard.settings.load import Loaded

app = typer.Typer(help="Show and check the settings.", no_args_is_help=True)


@app.command()
def show(
    config: Config = None,
    data_dir: DataDir = None,
    output: As = Output.TABLE,
) -> None:
    """Print every setting, its value and where the value came from. Of secrets only whether they are set."""
    found = loaded(config, data_dir=data_dir)
    match output:
        case Output.JSON:
            print_json(_report(found))
        case Output.TABLE:
            print_table(("key", "value", "source"), _rows(found))


@app.command()
def check(
    file: Annotated[Path | None, typer.Argument(help="A configuration file; else the one that would be read.")] = None,
    data_dir: DataDir = None,
) -> None:
    """Check the file together with the environment, as a start would read them, and report every problem."""
    loaded(file, data_dir=data_dir)
    typer.echo("ok")


@app.command()
def schema() -> None:
    """Print the JSON Schema of the configuration file's `mcpguard` object."""
    print_json(json_schema())


def _report(found: Loaded) -> dict[str, object]:
    settings = [
        {"key": key, "value": value, "source": found.sources[key]} for key, value in public(found.settings).items()
    ]
    file = None if found.config_file is None else str(found.config_file)
    return {"version": found.settings.version, "config_file": file, "settings": settings}


def _rows(found: Loaded) -> Iterator[tuple[str, ...]]:
    for key, value in public(found.settings).items():
        yield key, _shown(value), found.sources[key]


def _shown(value: Json) -> str:
    if value is None:
        return "not set"
    return ", ".join(value) or "none" if isinstance(value, list) else str(value)
