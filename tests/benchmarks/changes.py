"""`python -m tests.benchmarks.changes FILE…`: what is found to be added by changes of definitions, and what it costs.

A line is `{"label"?, "class"?, "before", "after"}`; without a label it is an honest change. Without a file it is
measured on our own tests, which the patterns were written with: that proves nothing, and shows what is measured.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

import orjson
import typer
from rich.console import Console

from mcpguard.domain.additions import AdditionKind, Additions
from mcpguard.inspection.additions.find_additions import find_additions
from mcpguard.inspection.definitions.inspect import inspect_definition
from tests.benchmarks.report import Row, Sheet, as_json, machine, quantile, show
from tests.inspection.small_changes import APPROVED, HONEST, POISON, changed

HONEST_LABELS: Final = frozenset({"benign", "honest"})


@dataclass(frozen=True, slots=True)
class JudgedChange:
    """A labelled change, what it was found to add, and whether its new definition is flagged as a whole."""

    honest: bool
    kind: str
    name: str
    added: Additions
    flagged: bool
    seconds: float


def main(
    files: Annotated[
        list[Path] | None, typer.Argument(metavar="[FILE…]", help="Labelled changes, one a line; else our own.")
    ] = None,
    json: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the figures there too.")] = None,
    wrong: Annotated[bool, typer.Option("--wrong", help="List the changes that are judged wrongly.")] = False,
) -> None:
    """Measure recall and false alarms of additions, by label and class, and the time for a change."""
    lines = (orjson.loads(line) for file in files for line in file.open("rb") if line.strip()) if files else _ours()
    judged = [_judged(number, line) for number, line in enumerate(lines, 1)]
    console = Console()
    console.width = max(console.width, 150)
    sheets = list(_sheets(judged))
    for sheet in sheets:
        show(sheet, console)
    for each in judged if wrong else ():
        if each.added.alarming is each.honest:
            typer.echo(f"{each.name} ({each.kind}): {each.added.summary}")
    if json is not None:
        json.write_bytes(as_json(machine(), sheets))


def _ours() -> Iterator[Mapping[str, Any]]:
    typer.echo("no file is given: these are our own tests, which the patterns were written with", err=True)
    for kind, changes in POISON.items():
        yield from ({"label": "malicious", "class": kind, "before": APPROVED, "after": changed(c)} for c in changes)
    yield from ({"before": APPROVED, "after": changed(change)} for change in HONEST)


def _judged(number: int, line: Mapping[str, Any]) -> JudgedChange:
    start = time.perf_counter()
    added = find_additions(line["before"], line["after"])
    seconds = time.perf_counter() - start
    after = line["after"] if isinstance(line["after"], dict) else {"instructions": line["after"]}
    honest = line.get("label", "honest") in HONEST_LABELS
    name = str(line.get("id", f"line {number}"))
    return JudgedChange(honest, str(line.get("class", "")), name, added, inspect_definition(after).flagged, seconds)


def _sheets(judged: Sequence[JudgedChange]) -> Iterator[Sheet]:
    groups: dict[tuple[bool, str], list[JudgedChange]] = {}
    for each in judged:
        groups.setdefault((each.honest, ""), []).append(each)
        if each.kind:
            groups.setdefault((each.honest, each.kind), []).append(each)
    rows = [
        Row({"label": "honest" if honest else "malicious", "of": kind or "all"}, _figures(some))
        for (honest, kind), some in sorted(groups.items())
    ]
    yield Sheet("changes", "changes, and percent of them; `flagged`: the whole new definition, as any", rows)
    kinds = [Row({"kind": kind.value}, _with_kind(judged, kind)) for kind in AdditionKind]
    yield Sheet("by kind of addition", "changes with such an addition", kinds)
    seconds = [each.seconds * 1000 for each in judged]
    times = {f"{name}_ms": quantile(seconds, share) for name, share in (("p50", 0.5), ("p99", 0.99), ("worst", 1.0))}
    yield Sheet("time for a change", "ms", [Row({"of": "all"}, times)])


def _figures(some: Sequence[JudgedChange]) -> dict[str, float]:
    return {
        "changes": len(some),
        "alarming": 100 * sum(each.added.alarming for each in some) / len(some),
        "nothing": 100 * sum(not each.added.found for each in some) / len(some),
        "flagged": 100 * sum(each.flagged for each in some) / len(some),
    }


def _with_kind(judged: Sequence[JudgedChange], kind: AdditionKind) -> dict[str, float]:
    having = [each for each in judged if any(one.kind is kind for one in each.added.found)]
    return {"malicious": sum(not each.honest for each in having), "honest": sum(each.honest for each in having)}


if __name__ == "__main__":
    typer.run(main)
