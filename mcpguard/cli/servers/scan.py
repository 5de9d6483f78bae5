"""`mcpguard scan`: inspects definitions offline, without a guard.

Of definitions only their names and the words at the place of a finding are printed, safe to show.

Rules kept here:
1. One definition per line is read and one answer per line is written, as a stream: the file may have any length.
2. A line that is not a definition is reported on standard error with its number, and does not end the scan.
3. Findings are data, not failure: the exit code only tells whether the file could be read.
"""

import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import IO, Annotated, Any, Final
from urllib.parse import quote

import typer

from mcpguard.cli.servers.server_tables import finding_line, finding_lines
from mcpguard.cli.shared.common import json_line
from mcpguard.codec.strict import StrictError, parse
from mcpguard.domain.findings import InspectionFindings
from mcpguard.inspection.definitions import sarif
from mcpguard.inspection.definitions.inspect import all_rules, inspect_definition
from mcpguard.inspection.definitions.told_findings import told_findings
from mcpguard.inspection.detectors.detector import Surroundings
from mcpguard.text.visible import visible

_LONGEST_LINE: Final = 16 * 1024 * 1024
_DEEPEST: Final = 128
_STDIN: Final = "-"


class ScanForm(StrEnum):
    """The output format of findings."""

    TABLE = "table"
    JSON = "json"
    SARIF = "sarif"


@dataclass(frozen=True, slots=True)
class _Scanned:
    line: int
    server: str | None
    name: str | None
    tool: Mapping[str, Any]
    found: InspectionFindings


def scan(
    file: Annotated[str, typer.Argument(metavar="FILE|-", help="Definitions, one a line; - is standard input.")],
    output: Annotated[ScanForm, typer.Option("--output", "-o", help="Output format.")] = ScanForm.TABLE,
) -> None:
    """Inspect definitions, one JSON object a line: {"server": NAME, "tool": {…}} or a tool by itself."""
    with ExitStack() as stack:
        scanned = _scanned(_opened(file, stack))
        match output:
            case ScanForm.JSON:
                _as_json(scanned)
            case ScanForm.SARIF:
                _as_sarif("stdin" if file == _STDIN else file, scanned)
            case ScanForm.TABLE:
                _as_table(scanned)


def _opened(file: str, stack: ExitStack) -> IO[bytes]:
    if file == _STDIN:
        return sys.stdin.buffer
    try:
        return stack.enter_context(Path(file).open("rb"))
    except OSError as error:
        typer.echo(f"mcpguard: {visible(file)}: {error.strerror}", err=True)
        raise typer.Exit(1) from None


def _scanned(lines: IO[bytes]) -> Iterator[_Scanned]:
    for number, line in enumerate(_lines(lines), 1):
        if not line.strip():
            continue
        try:
            value = parse(line, max_bytes=_LONGEST_LINE, max_depth=_DEEPEST)
            server, tool = _definition(value)
        except StrictError as error:
            typer.echo(f"line {number}: {visible(error.message)}", err=True)
            continue
        name = tool.get("name")
        found = inspect_definition(tool, Surroundings(server=server or ""))
        yield _Scanned(number, server, name if isinstance(name, str) else None, tool, found)


def _lines(lines: IO[bytes]) -> Iterator[bytes]:
    """The lines of the file. One that is too long is cut, so that it does not fill the memory, and refused later."""
    while line := lines.readline(_LONGEST_LINE + 1):
        yield line
        while len(line) > _LONGEST_LINE and not line.endswith(b"\n"):
            line = lines.readline(_LONGEST_LINE + 1)


def _definition(value: object) -> tuple[str | None, Mapping[str, Any]]:
    if not isinstance(value, dict):
        raise StrictError("no JSON object")
    tool, server = value.get("tool"), value.get("server")
    if isinstance(tool, dict) and "inputSchema" not in value:
        return server if isinstance(server, str) else None, tool
    return None, value


def _as_json(scanned: Iterator[_Scanned]) -> None:
    for each in scanned:
        typer.echo(
            json_line(
                {
                    "server": each.server,
                    "name": each.name,
                    "flagged": each.found.flagged,
                    "risk": each.found.risk,
                    "hard": each.found.hard,
                    "grave": bool(each.found.grave),
                    "findings": told_findings(each.found.findings, each.tool),
                }
            )
        )


def _as_sarif(uri: str, scanned: Iterator[_Scanned]) -> None:
    """Print a SARIF document, which is filled while reading."""
    head, tail = json_line(sarif.empty_log(all_rules())).split('"results":[]')
    typer.echo(head + '"results":[')
    comma = ""
    for each in scanned:
        for result in sarif.sarif_results(quote(uri), each.line, each.found.findings):
            typer.echo(comma + json_line(result))
            comma = ","
    typer.echo("]" + tail)


def _as_table(scanned: Iterator[_Scanned]) -> None:
    for each in scanned:
        mark = "GRAVE" if each.found.grave else "FLAG" if each.found.flagged else "ok"
        name = ":".join(filter(None, (each.server, each.name))) or "(no name)"
        typer.echo(f"{mark:5}  {each.found.risk:3}  {visible(name)}")
        for found in told_findings(each.found.findings, each.tool):
            typer.echo(f"            {finding_line(found)}")
            place = found["evidence"]
            typer.echo(f"                at: {visible(place['path'])} [{place['start']}:{place['end']}]")
            for word, said in finding_lines(found):
                typer.echo(f"                {word}: {said}")
