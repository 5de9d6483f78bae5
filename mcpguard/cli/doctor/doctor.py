"""`mcpguard doctor`: finds problems of an installation, and tells how to solve them.

Rules kept here:
1. It works with and without a running guard. It changes nothing, and starts and contacts no server.
2. Exit code 0 if there is no problem, 1 if there is one, 2 for a usage error. Notices do not count.
3. Untrusted text is printed with control characters made visible, and no secret value is printed.
"""

from pathlib import Path
from typing import Annotated, Any

import typer

from mcpguard import __version__
from mcpguard.cli.doctor.checks import Check, run_checks
from mcpguard.cli.doctor.evidence import DoctorEvidence, gather_evidence
from mcpguard.cli.doctor.finding import DoctorFinding, Level
from mcpguard.cli.shared.common import As, Output, print_json
from mcpguard.text.visible import visible

Config = Annotated[
    Path | None, typer.Option("--config", metavar="FILE", help="The configuration file to read.", readable=False)
]
DataDir = Annotated[Path | None, typer.Option("--data-dir", metavar="DIR", help="The data directory.", readable=False)]
"""What cannot be read is a finding here, and no wrong use."""
_MARKS = {Level.OK: "  ok       ", Level.NOTICE: "  notice   ", Level.PROBLEM: "  PROBLEM  "}
_BELOW = "           "
Found = list[tuple[Check, list[DoctorFinding]]]


def doctor(config: Config = None, data_dir: DataDir = None, output: As = Output.TABLE) -> None:
    """Find problems, with the guard running or not, and say what to do. Nothing is changed.

    Exit code 0: no problem. 1: at least one; notices do not count.
    """
    evidence = gather_evidence(config, data_dir)
    found = run_checks(evidence)
    if output is Output.JSON:
        print_json(_report(evidence, found))
    else:
        _print(found)
    if _count(found, Level.PROBLEM):
        raise typer.Exit(1)


def _report(evidence: DoctorEvidence, found: Found) -> dict[str, Any]:
    findings = [
        {
            "subject": check.name,
            "check": each.check,
            "of": each.of,
            "level": each.level.value,
            "sentence": each.sentence,
            "next": each.next,
            "lines": list(each.lines),
        }
        for check, some in found
        for each in some
    ]
    return {
        "version": __version__,
        "data_dir": str(evidence.settings.data_dir),
        "running": evidence.status is not None,
        "problems": _count(found, Level.PROBLEM),
        "notices": _count(found, Level.NOTICE),
        "findings": findings,
    }


def _print(found: Found) -> None:
    for check, some in found:
        if some:
            typer.echo(check.subject)
        for each in sorted(some, key=lambda finding: [*Level].index(finding.level)):
            typer.echo(_MARKS[each.level] + visible(each.sentence))
            for line in each.lines:
                typer.echo(f"{_BELOW}| {visible(line)}")
            if each.next:
                typer.echo(f"{_BELOW}→ {visible(each.next)}")
    typer.echo(f"{_counted(found, Level.PROBLEM)}, {_counted(found, Level.NOTICE)}")


def _counted(found: Found, level: Level) -> str:
    count = _count(found, level)
    return f"{count or 'no'} {level.value}{'' if count == 1 else 's'}"


def _count(found: Found, level: Level) -> int:
    return sum(each.level is level for _, some in found for each in some)
