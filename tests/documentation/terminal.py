"""`python -m tests.documentation.terminal FILE`: draws what an agent is told when the guard refuses its calls.

The text is what `mcpguard tour` prints against a real guard. Only the steps in which a call was refused are drawn.
"""

import sys
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import wrap
from typing import Final

from tests.process import run, serving

COLUMNS: Final = 104
CHARACTER: Final = 7.2
LINE: Final = 19
MARGIN: Final = 20
SIZE: Final = 12
REFUSED: Final = "executed: no"
COLOURS: Final = {"   agent": "#9ecbff", "   guard": "#ffb4a2", "$": "#a5d6a7"}
PLAIN: Final = "#e6e6e6"
FONT: Final = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"


def refused(printed: str) -> list[str]:
    """Returns the lines of the steps in which a call was refused, wrapped to the picture's width."""
    steps = [step for step in printed.split("\n\n") if REFUSED in step]
    lines: list[str] = ["$ mcpguard tour --yes"]
    for step in steps:
        lines.append("")
        for line in step.strip("\n").splitlines():
            indent = "" if line[:1].isdigit() else " " * 10
            lines += wrap(line, COLUMNS, subsequent_indent=indent, drop_whitespace=True, break_on_hyphens=False)
    return lines


def drawing(lines: list[str]) -> str:
    """Returns an SVG picture of a terminal that shows these lines."""
    width, height = round(COLUMNS * CHARACTER + 2 * MARGIN), len(lines) * LINE + 2 * MARGIN
    size = f'width="{width}" height="{height}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" {size}'
    rows: list[str] = []
    colour = PLAIN
    for number, line in enumerate(lines):
        colour = next((shade for start, shade in COLOURS.items() if line.startswith(start)), colour)
        place = f'x="{MARGIN}" y="{MARGIN + SIZE + number * LINE}"'
        rows.append(f'<text {place} fill="{colour}" xml:space="preserve">{escape(line)}</text>')
        colour = colour if line.startswith(" ") else PLAIN
    rows = [f'<rect {size} rx="8" fill="#15191f"/>', *rows]
    return "\n".join((f'{head} font-family="{FONT}" font-size="{SIZE}">', *rows, "</svg>\n"))


def main(file: Path) -> None:
    """Starts a guard with the demo servers, takes the tour, and draws the refused calls."""
    with TemporaryDirectory() as scratch:
        data = Path(scratch) / "data"
        with serving(data, "--demo", environ={"MCPGUARD_HOLDS__WAIT_SECONDS": "1"}):
            done = run("tour", "--yes", "--data-dir", data)
    assert done.returncode == 0, done.stderr
    file.write_text(drawing(refused(done.stdout)))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
