"""`mcpguard code scripts`: programs with a name, which a person approves like the tools of a server."""

import json
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from mcpguard.cli.agents.program_file import CHECKING, ProgramFile, read_program, show_named
from mcpguard.cli.shared.common import As, Config, DataDir, Output, moment, print_answer, print_json, print_table
from mcpguard.cli.shared.guard_client import API, GuardClient
from mcpguard.cli.shared.options import json_object
from mcpguard.text.visible import visible

SCRIPTS: Final = f"{API}/scripts"
HEAD: Final = ("name", "status", "effect", "tools", "revision", "changed", "by")
NONE: Final = "No scripts. Write one down: mcpguard code scripts add NAME FILE"
app = typer.Typer(
    help="Programs with a name, which a person approves like the tools of a server.", no_args_is_help=True
)
ScriptName = Annotated[str, typer.Argument(metavar="NAME", help="The script.")]
Description = Annotated[str | None, typer.Option(metavar="TEXT", help="What it does, for agents that look for it.")]
Schema = Annotated[str | None, typer.Option(metavar="JSON", help="The JSON schema of its input; default: any object.")]
Tools = Annotated[
    list[str] | None,
    typer.Option(
        metavar="SERVER:TOOL",
        help="A tool that it may call without a hold for each call; repeat it. Default: the tools that it names.",
    ),
]


@app.command("list")
def list_(config: Config = None, data_dir: DataDir = None, output: As = Output.TABLE) -> None:
    """List the scripts."""
    answer = GuardClient.from_options(config, data_dir).get(SCRIPTS)
    if output is Output.JSON:
        print_json(answer)
    elif answer["scripts"]:
        print_table(HEAD, map(_row, answer["scripts"]))
    else:
        typer.echo(NONE, err=True)


@app.command()
def show(name: ScriptName, config: Config = None, data_dir: DataDir = None, output: As = Output.TABLE) -> None:
    """Show a script as it was written down last: its program on standard output, the rest beside it."""
    script = GuardClient.from_options(config, data_dir).get(_path(name))
    if output is Output.JSON:
        print_json(script)
        return
    print_table(HEAD, iter([_row(script)]))
    if script["description"]:
        typer.echo(visible(script["description"]))
    typer.echo(f"input: {visible(json.dumps(script['input_schema']))}\n")
    for line in script["code"].splitlines():
        typer.echo(visible(line))


@app.command()
def add(
    name: ScriptName,
    file: ProgramFile,
    description: Description = None,
    input_schema: Schema = None,
    tool: Tools = None,
    config: Config = None,
    data_dir: DataDir = None,
    output: As = Output.TABLE,
) -> None:
    """Write a script down. It waits for approval; nothing of it runs before."""
    guard = GuardClient.from_options(config, data_dir)
    body = {"name": name} | _body(file, description, input_schema, tool)
    _tell(guard, guard.send("POST", SCRIPTS, body, CHECKING), output)


@app.command()
def change(
    name: ScriptName,
    file: ProgramFile,
    description: Description = None,
    input_schema: Schema = None,
    tool: Tools = None,
    config: Config = None,
    data_dir: DataDir = None,
    output: As = Output.TABLE,
) -> None:
    """Change a script. Calls of it are refused until the new text is approved. What is left out stays as it is, but the
    tools are those that the new program names."""
    guard = GuardClient.from_options(config, data_dir)
    before = guard.get(_path(name))
    kept = {key: before[key] for key in ("description", "input_schema", "revision")}
    body = kept | _body(file, description, input_schema, tool)
    _tell(guard, guard.send("PUT", _path(name), body, CHECKING), output)


@app.command()
def remove(name: ScriptName, config: Config = None, data_dir: DataDir = None, output: As = Output.TABLE) -> None:
    """Remove a script. Calls of it are refused from then on."""
    guard = GuardClient.from_options(config, data_dir)
    revision = guard.get(_path(name))["revision"]
    guard.send("DELETE", f"{_path(name)}?revision={revision}")
    print_answer(output, {"name": name}, f"{name} is removed")


def _tell(guard: GuardClient, script: dict[str, Any], output: Output) -> None:
    if output is Output.JSON:
        print_json(script)
        return
    show_named([{"name": tool, "effect": "no hold of its own"} for tool in script["tools"]])
    server, name = guard.get(SCRIPTS)["server"], script["name"]
    for line in (
        f"{name} waits for approval (revision {script['revision']}, {script['effect']}).",
        f"Its server, once: mcpguard server approve {server}",
        f"The script: mcpguard tool approve {server}:{name}",
    ):
        typer.echo(visible(line), err=True)


def _body(file: Path, description: str | None, schema: str | None, tools: list[str] | None) -> dict[str, Any]:
    given: dict[str, Any] = {"code": read_program(file), "description": description, "tools": tools}
    given["input_schema"] = None if schema is None else json_object(schema, "--input-schema")
    return {key: value for key, value in given.items() if value is not None}


def _path(name: str) -> str:
    if not name.isascii() or not name.replace("-", "").replace("_", "").isalnum():
        raise typer.BadParameter("a name has a to z, 0 to 9, - and _, and begins with a letter", param_hint="NAME")
    return f"{SCRIPTS}/{name}"


def _row(script: dict[str, Any]) -> tuple[str, ...]:
    tools = ", ".join(script["tools"]) or "none"
    changed = moment(script["at"])
    return (
        script["name"],
        script["standing"] or "",
        script["effect"],
        tools,
        str(script["revision"]),
        changed,
        script["by"],
    )
