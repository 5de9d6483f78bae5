"""`python -m tests.benchmarks.detection PLACE…`: what is found in labelled definitions and replies, and what it costs.

A place is a file or a folder (`labelled`). Rules are judged as they are delivered. The comparison with published
attacks is judged as it is delivered, which proves nothing about texts that it was learnt from, or with `--left-out` by
weights that were learnt without the source of each text. Without a place it is measured on what our own tests say.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console

from mcpguard.domain.findings import is_grave
from mcpguard.domain.json import Json
from mcpguard.domain.screening import Screening
from mcpguard.inspection.definitions.inspect import inspect_definition
from mcpguard.inspection.detectors.detector import Surroundings
from mcpguard.inspection.replies.plain_replies import is_plain
from mcpguard.inspection.replies.screening import ScreenedReply, screen_reply
from mcpguard.inspection.resemblance.published_attacks import KINDS, SIZES, attack_weights
from mcpguard.policy.secrets.known_secrets import KnownSecrets
from tests.benchmarks.detection.labelled import MALICIOUS, Labelled, read_labelled
from tests.benchmarks.detection.learn import lines_of
from tests.benchmarks.detection.left_out import kind_of, left_out_scores
from tests.benchmarks.report import Row, Sheet, as_json, machine, quantile, show
from tests.inspection.detectors import attacks, other_words

OURS: Final = "our own tests"
_NOTHING: Final = KnownSecrets(())
_RULES_ALONE: Final = Surroundings(compared=False)
_ALL: Final = Surroundings()


@dataclass(frozen=True, slots=True)
class Judged:
    """A labelled text, what rules found in it, whether it resembles attacks, and how long rules and that took.

    `noted`: what the guard makes of both together, where it was asked that.
    """

    text: Labelled
    flagged: bool
    grave: bool
    hard: bool
    alike: bool
    seconds: float
    noted: bool | None = None

    @property
    def found(self) -> bool:
        return self.flagged or self.alike if self.noted is None else self.noted


def main(
    places: Annotated[
        list[Path] | None, typer.Argument(metavar="[PLACE…]", help="Files or folders of labelled texts; else our own.")
    ] = None,
    json: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the figures there too.")] = None,
    *,
    left_out: Annotated[
        bool, typer.Option("--left-out", help="Learn the comparison anew for each source, without it (minutes).")
    ] = False,
) -> None:
    """Measure what is found and what is flagged wrongly, by source and by kind, and the time for a text."""
    texts = list(read_labelled(places)) if places else list(_ours())
    if not texts:
        typer.echo("no labelled text was found", err=True)
        raise typer.Exit(1)
    judged = _judged(texts, left_out=left_out)
    console = Console()
    console.width = max(console.width, 150)
    sheets = list(_sheets(judged))
    for sheet in sheets:
        show(sheet, console)
    if json is not None:
        json.write_bytes(as_json(machine(), sheets))


def _ours() -> Iterator[Labelled]:
    typer.echo("no place is given: these are our own tests, which the detectors were written with", err=True)
    for said, honest in ((attacks.SAID, attacks.HONEST), (other_words.SAID, other_words.HONEST)):
        labelled = [(True, kind, text) for kind, texts in said.items() for text in texts]
        for malicious, kind, text in (*labelled, *((False, "honest", text) for text in honest)):
            tool = {"name": "tool", "description": text, "inputSchema": {"type": "object"}}
            yield Labelled(malicious, kind, OURS, {"tool": tool})


def _judged(texts: Sequence[Labelled], *, left_out: bool) -> list[Judged]:
    if left_out:
        scores = left_out_scores(texts)
        lines = {kind: lines_of(kind, texts, scores) for kind in KINDS}
    else:
        scores = [
            tuple(attack_weights(kind_of(each)).most_alike(each.words, size).score for size in SIZES) for each in texts
        ]
        lines = {kind: attack_weights(kind).lines for kind in KINDS}

    def alike(text: Labelled, found: tuple[float, ...]) -> bool:
        of_kind = lines[kind_of(text)]
        return any(score >= of_kind[size] for score, size in zip(found, SIZES, strict=True))

    return [
        _of_definition(each, alike=alike(each, found))
        if each.is_definition
        else _of_reply(each, alike=alike(each, found), left_out=left_out)
        for each, found in zip(texts, scores, strict=True)
        if "snippet" not in each.said
    ]


def _of_definition(text: Labelled, *, alike: bool) -> Judged:
    tool = text.said["tool"]
    start = time.perf_counter()
    inspect_definition(tool, _ALL)
    seconds = time.perf_counter() - start
    found = inspect_definition(tool, _RULES_ALONE)
    grave = any(is_grave(each.severity, hard=each.hard) for each in found.findings)
    return Judged(text, found.flagged, grave, found.hard, alike, seconds)


def _of_reply(text: Labelled, *, alike: bool, left_out: bool) -> Judged:
    reply: Json = {"content": [{"type": "text", "text": text.said["text"]}]}
    start = time.perf_counter()
    together = _screened(reply, _ALL)
    seconds = time.perf_counter() - start
    screened = _screened(reply, _RULES_ALONE)
    noted = None if left_out else _is_noted(together)
    return Judged(text, _is_noted(screened), screened.hard, screened.hard, alike, seconds, noted)


def _is_noted(screened: ScreenedReply) -> bool:
    return any(not each.rule.startswith("secret.") for each in screened.found)


def _screened(reply: Json, around: Surroundings) -> ScreenedReply:
    if is_plain(reply, _NOTHING, around):
        return ScreenedReply(reply)
    return screen_reply(reply, Screening.NOTE, _NOTHING, around, lambda: True)


def _sheets(judged: Sequence[Judged]) -> Iterator[Sheet]:
    for name, some in (
        ("definitions", [each for each in judged if each.text.is_definition]),
        ("replies", [each for each in judged if not each.text.is_definition]),
    ):
        if not some:
            continue
        grave = "grave" if name == "definitions" else "withheld by refuse"
        yield Sheet(name, "percent of texts", list(_totals(some, grave)))
        yield Sheet(f"{name} by kind", "texts, and percent of them", list(_grouped(some, lambda each: each.text.kind)))
        yield Sheet(
            f"{name} by source", "texts, and percent of them", list(_grouped(some, lambda each: each.text.source))
        )
        seconds = [each.seconds * 1000 for each in some]
        times = {f"{name}_ms": quantile(seconds, at) for name, at in (("p50", 0.5), ("p99", 0.99), ("worst", 1.0))}
        yield Sheet(f"time for one of the {name}", "ms", [Row({"of": "all"}, times)])


def _totals(some: Sequence[Judged], grave: str) -> Iterator[Row]:
    for label, malicious in ((MALICIOUS, True), ("benign", False)):
        of = [each for each in some if each.text.malicious is malicious]
        figures = {
            "texts": len(of),
            "rules": _share(of, lambda each: each.flagged),
            "resembles": _share(of, lambda each: each.alike),
            "either": _share(of, lambda each: each.found),
            grave: _share(of, lambda each: each.grave),
            "hard": _share(of, lambda each: each.hard),
        }
        yield Row({"of": label}, figures)


def _grouped(judged: Sequence[Judged], key: Callable[[Judged], str]) -> Iterator[Row]:
    groups: dict[tuple[bool, str], list[Judged]] = {}
    for each in judged:
        groups.setdefault((not each.text.malicious, key(each)), []).append(each)
    for (benign, name), some in sorted(groups.items()):
        figures = {
            "texts": len(some),
            "rules": _share(some, lambda each: each.flagged),
            "resembles": _share(some, lambda each: each.alike),
            "either": _share(some, lambda each: each.found),
        }
        yield Row({"label": "benign" if benign else MALICIOUS, "of": name}, figures)


def _share(some: Sequence[Judged], holds: Callable[[Judged], bool]) -> float:
    return 100 * sum(map(holds, some)) / len(some) if some else float("nan")


if __name__ == "__main__":
    typer.run(main)
