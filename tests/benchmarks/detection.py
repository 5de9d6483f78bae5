"""`python -m tests.benchmarks.detection FILE…`: what inspection finds in labelled definitions, and what it costs.

A line is `{"label": "malicious" | "benign", "class", "source", "server", "tool", "peers"?}`. The sources are divided
in two by a hash of their repositories: whoever writes detectors looks at misses in the one half, and believes the
figures of the other. No weight is learnt from any of it. Without a file it is measured on what our own tests say, with
a view of which the detectors were written: that proves nothing, and shows what is measured.
"""

import hashlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

import orjson
import typer
from rich.console import Console

from mcpguard.domain.findings import InspectionFindings
from mcpguard.inspection.definitions.inspect import inspect_definition
from mcpguard.inspection.detectors.detector import Surroundings
from tests.benchmarks.report import Row, Sheet, as_json, machine, quantile, show
from tests.inspection.detectors import attacks, other_words

ANCHORS: Final = (
    ("rules only, the best that was measured", 40.9, 1.0),
    ("rules of other scanners, the least", 17.0, 1.0),
    ("a small bundled ONNX model", 48.2, 1.0),
    ("the same model, set to find more", 69.0, 7.5),
    ("what we aim for, on unseen sources", 60.0, 1.0),
)
"""Recall and false positives in percent, measured on real definitions in 2026."""
OURS: Final = "our own tests"
_MALICIOUS: Final = "malicious"


@dataclass(frozen=True, slots=True)
class Judged:
    """A labelled definition and what was found in it, by itself and with its neighbours known."""

    malicious: bool
    kind: str
    source: str
    alone: InspectionFindings
    beside: InspectionFindings
    seconds: float

    @property
    def unseen(self) -> bool:
        return self.source != OURS and hashlib.sha256(self.source.encode()).digest()[0] % 2 == 1


def main(
    files: Annotated[
        list[Path] | None, typer.Argument(metavar="[FILE…]", help="Labelled definitions, one a line; else our own.")
    ] = None,
    json: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the figures there too.")] = None,
) -> None:
    """Measure recall, false positives, the hard tier, each class and source, and the time for a definition."""
    lines = (line for file in files for line in _labelled(file)) if files else _ours()
    judged = [_judged(line) for line in lines]
    console = Console()
    console.width = max(console.width, 150)
    sheets = list(_sheets(judged))
    for sheet in sheets:
        show(sheet, console)
    if json is not None:
        json.write_bytes(as_json(machine(), sheets))


def _ours() -> Iterator[Mapping[str, Any]]:
    typer.echo("no file is given: these are our own tests, which the detectors were written with", err=True)
    for said, honest in ((attacks.SAID, attacks.HONEST), (other_words.SAID, other_words.HONEST)):
        labelled = [(_MALICIOUS, kind, text) for kind, texts in said.items() for text in texts]
        for label, kind, text in (*labelled, *(("benign", "honest", text) for text in honest)):
            tool = {"name": "tool", "description": text, "inputSchema": {"type": "object"}}
            yield {"label": label, "class": kind, "source": OURS, "tool": tool}


def _labelled(file: Path) -> Iterator[Mapping[str, Any]]:
    """The lines that have a tool and a label; of the others it is said how many there are."""
    others = 0
    with file.open("rb") as lines:
        for line in lines:
            said = orjson.loads(line) if line.strip() else None
            if isinstance(said, dict) and isinstance(said.get("tool"), dict) and isinstance(said.get("label"), str):
                yield said
            elif said is not None:
                others += 1
    if others:
        typer.echo(f"{file}: {others} lines have no tool with a label, and are left out", err=True)


def _judged(line: Mapping[str, Any]) -> Judged:
    tool = line["tool"]
    start = time.perf_counter()
    alone = inspect_definition(tool)
    seconds = time.perf_counter() - start
    peers: dict[str, set[str]] = {}
    for peer in line.get("peers") or ():
        peers.setdefault(peer["server"], set()).add(peer["tool"]["name"])
    others = {server: frozenset(names) for server, names in peers.items()}
    beside = (
        inspect_definition(tool, Surroundings(server=str(line.get("server", "")), others=others)) if others else alone
    )
    source = str(line.get("source", "")).partition("@")[0]
    return Judged(line["label"] == _MALICIOUS, str(line.get("class", "")), source, alone, beside, seconds)


def _sheets(judged: Sequence[Judged]) -> Iterator[Sheet]:
    halves = {
        "all": judged,
        "seen sources": [each for each in judged if not each.unseen],
        "unseen sources": [each for each in judged if each.unseen],
    }
    rows = [Row({"of": name}, _figures(some)) for name, some in halves.items()]
    rows.append(Row({"of": "all, neighbours known"}, _figures(judged, lambda each: each.beside)))
    yield Sheet("detection", "percent; each definition by itself, as `mcpguard scan` sees it", rows)
    anchors = [Row({"of": name}, {"recall": recall, "false_positives": false}) for name, recall, false in ANCHORS]
    yield Sheet("anchors", "percent; what was measured elsewhere, on other definitions", anchors)
    yield Sheet("per class", "definitions, and percent of them", list(_grouped(judged, lambda each: each.kind)))
    yield Sheet("per source", "definitions, and percent of them", list(_grouped(judged, lambda each: each.source)))
    seconds = [each.seconds * 1000 for each in judged]
    times = {f"{name}_ms": quantile(seconds, share) for name, share in (("p50", 0.5), ("p99", 0.99), ("worst", 1.0))}
    yield Sheet("time for a definition", "ms; read, and looked at by every detector", [Row({"of": "all"}, times)])


def _figures(
    some: Sequence[Judged], found: Callable[[Judged], InspectionFindings] = lambda each: each.alone
) -> dict[str, float]:
    bad = [found(each) for each in some if each.malicious]
    good = [found(each) for each in some if not each.malicious]
    return {
        "malicious": len(bad),
        "benign": len(good),
        "recall": _share(bad, lambda each: each.flagged),
        "false_positives": _share(good, lambda each: each.flagged),
        "hard_recall": _share(bad, lambda each: each.hard),
        "hard_false_positives": _share(good, lambda each: each.hard),
    }


def _grouped(judged: Sequence[Judged], key: Callable[[Judged], str]) -> Iterator[Row]:
    groups: dict[tuple[bool, str], list[Judged]] = {}
    for each in judged:
        groups.setdefault((not each.malicious, key(each)), []).append(each)
    for (benign, name), some in sorted(groups.items()):
        half = {each.unseen for each in some}
        of = {"label": "benign" if benign else _MALICIOUS, "of": name, "half": _half(half)}
        alone = [each.alone for each in some]
        flagged, hard = _share(alone, lambda each: each.flagged), _share(alone, lambda each: each.hard)
        yield Row(of, {"definitions": len(some), "flagged": flagged, "hard": hard})


def _half(unseen: set[bool]) -> str:
    return "both" if len(unseen) > 1 else "unseen" if True in unseen else "seen"


def _share(some: Sequence[InspectionFindings], holds: Callable[[InspectionFindings], bool]) -> float:
    return 100 * sum(map(holds, some)) / len(some) if some else float("nan")


if __name__ == "__main__":
    typer.run(main)
