"""Running a command in this process, as its entry point would."""

import unicodedata
from pathlib import Path

from typer.testing import CliRunner, Result

from mcpguard.cli.main import build

HOSTILE = (
    "\x1b]0;owned\x07\x1b[2J\x9b31m\r\n\u202eevil\u2066\u200b\u2028\U000e0041\x00\x7f[red]Integrity: OK[/red] é 日本"
)
"""Terminal escapes of 7 and 8 bits, new lines, bidi, zero-width and tag characters, markup; and honest letters."""

HIDDEN = {"Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp"}


def mcpguard(*arguments: str | Path) -> Result:
    """What a command prints and how it ends. An exception that nobody foresaw fails the test."""
    words = [str(argument) for argument in arguments]
    result = CliRunner().invoke(build(words), words)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert "Traceback" not in result.output
    return result


def refusal(result: Result) -> str:
    """The sentence that a command ends with when it cannot do what was asked: on standard error, and nothing else."""
    assert (result.exit_code, result.stdout) == (1, ""), result.output
    assert result.stderr.startswith("mcpguard: ")
    assert result.stderr.count("\n") == 1
    assert inert(result.stderr)
    return result.stderr


def inert(text: str) -> bool:
    """Whether a terminal shows this text and does nothing else."""
    return not any(unicodedata.category(char) in HIDDEN for char in text.replace("\n", ""))
