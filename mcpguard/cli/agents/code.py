"""`mcpguard code`: programs that call many tools, as an agent runs them."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from mcpguard.cli.agents.agent_client import Agent, answer_facts
from mcpguard.cli.shared.common import As, Config, DataDir, Output, print_json, print_lines
from mcpguard.codec.strict import StrictError, parse
from mcpguard.domain.capabilities import Effect
from mcpguard.text.visible import visible

LARGEST: Final = 4 * 1024 * 1024
LONGEST_SECONDS: Final = 3630.0
"""A little more than any setting lets a program run."""
TOOL: Final = "code_execution"
app = typer.Typer(help="Programs that call many tools, as an agent runs them.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """Programs that call many tools, as an agent runs them."""


@app.command()
def run(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The program in Python; - reads standard input.")],
    given: Annotated[str, typer.Option("--input", metavar="JSON", help="What the program sees as `input`.")] = "null",
    effect: Annotated[Effect, typer.Option(help="The worst effect that its calls may have.")] = Effect.READ,
    server: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="A server that it may call; repeat it. All, if left out.")
    ] = None,
    reason: Annotated[str, typer.Option(metavar="TEXT", help="The reason, which goes into the audit log.")] = "",
    config: Config = None,
    data_dir: DataDir = None,
    output: As = Output.TABLE,
) -> None:
    """Run a program as an agent does: with the token in MCPGUARD_TOKEN, or anonymously. Exit code 1 if it fails."""
    options = {"allowed_servers": server} if server else {}
    intent = {"operation_type": effect.value} | ({"reason": reason} if reason else {})
    wanted = {"code": _program(file), "input": _value(given), "options": options, "intent": intent}
    result = Agent(config, data_dir, LONGEST_SECONDS).call(TOOL, wanted)
    said = answer_facts(result)
    if output is Output.JSON:
        print_json(said)
    elif "ok" not in said:
        print_lines(str(result.get("content", [{}])[0].get("text", "")))
    else:
        _show(said)
    raise typer.Exit(0 if said.get("ok") else 1)


def _show(said: Mapping[str, Any]) -> None:
    for line in said["logs"]:
        print_lines(line)
    for call in said["calls"]:
        why = f" ({call['reason']})" if call["reason"] else ""
        typer.echo(visible(f"{call['status']}  {call['name']}{why}  {call['call_id']}"), err=True)
    if said["ok"]:
        print_json(said["value"])
        return
    error = said["error"]
    line = f", line {error['line']}" if "line" in error else ""
    typer.echo(visible(f"{error['code']}{line}: {error['message']}"), err=True)


def _program(file: Path) -> str:
    """Read the program. Ends the command where that cannot be done."""
    try:
        return sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8")
    except (OSError, UnicodeError) as error:
        raise typer.BadParameter(f"cannot be read: {error}", param_hint="FILE") from None


def _value(text: str) -> object:
    """Parse the input. No error repeats it: it may hold a secret."""
    try:
        return parse(text.encode(errors="surrogateescape"), max_bytes=LARGEST)
    except StrictError as error:
        raise typer.BadParameter(f"this is not strict JSON: {error.message}", param_hint="--input") from None
