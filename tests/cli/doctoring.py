"""What `mcpguard doctor` finds, as values."""

import json
from pathlib import Path
from typing import Any

from typer.testing import Result

from tests.cli.command import mcpguard

Finding = dict[str, Any]


def told(result: Result, code: int) -> list[Finding]:
    """What is found, once the exit code is this and the counts are those of what is found."""
    report = json.loads(result.stdout)
    levels = [each["level"] for each in report["findings"]]
    assert (report["problems"], report["notices"]) == (levels.count("problem"), levels.count("notice"))
    assert result.exit_code == (1 if report["problems"] else 0) == code, result.stdout
    assert result.stderr == ""
    return list(report["findings"])


def doctor(data_dir: Path, *more: str | Path, code: int = 0) -> list[Finding]:
    return told(mcpguard("doctor", "--data-dir", data_dir, "-o", "json", *more), code)


def of(findings: list[Finding], check: str) -> list[Finding]:
    return [each for each in findings if each["check"] == check]


def only(findings: list[Finding], check: str) -> Finding:
    (found,) = of(findings, check)
    return found


def bad(findings: list[Finding]) -> list[str]:
    return [each["check"] for each in findings if each["level"] == "problem"]


def files(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """Every file, with its mode, its time and its content."""
    return {
        str(path): (path.stat().st_mode, path.stat().st_mtime_ns, path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
