"""`python -m tests.benchmarks.detection.learn FOLDER… OUT`: makes the weights of the comparison with published attacks.

The folders have labelled definitions, replies and snippets (`labelled`). From which score on a text is reported is
decided with one source left out in turn: so that few honest texts of sources that were not learnt from reach it.
"""

import datetime as dt
from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Final

import numpy as np
import typer

from mcpguard.inspection.resemblance.published_attacks import (
    DIGEST,
    KINDS,
    WINDOWS,
    AttackWeights,
    Lines,
    line_name,
)
from tests.benchmarks.detection.labelled import Labelled, read_labelled
from tests.benchmarks.detection.learning import learn, windows_of
from tests.benchmarks.detection.left_out import left_out_scores

HONEST: Final = {"definitions": 0.005, "replies": 0.013}
"""Shares of honest texts of left-out sources that may reach the line of each size of window."""


def main(
    places: Annotated[list[Path], typer.Argument(metavar="FOLDER…", help="Labelled texts.")],
    out: Annotated[Path, typer.Option(metavar="FILE", help="The file to write.")],
) -> None:
    """Learn the weights, and the lines above which a text is reported."""
    texts = list(read_labelled(places))
    lines = lines_of(texts, left_out_scores(texts))
    out.write_text(as_text(learn(windows_of(texts)), lines, texts), "utf-8")
    typer.echo(f"{out}: learnt from {len(texts)} texts; lines {lines}")


def lines_of(texts: Sequence[Labelled], scores: Sequence[tuple[float, ...]]) -> Lines:
    """Return the scores that only so few honest texts reach. `scores` are of weights that were learnt without them."""
    return {(kind, size): _line(texts, scores, kind, at) for kind in KINDS for at, size in enumerate(WINDOWS)}


def _line(texts: Sequence[Labelled], scores: Sequence[tuple[float, ...]], kind: str, at: int) -> float:
    honest = [
        score[at]
        for each, score in zip(texts, scores, strict=True)
        if not each.malicious and (each.is_definition if kind == "definitions" else each.is_reply)
    ]
    return round(float(np.quantile(honest, 1 - HONEST[kind])), 2) if honest else float("inf")


def as_text(weights: AttackWeights, lines: Lines, texts: Sequence[Labelled]) -> str:
    """Return the weights as a file: what they were learnt from, and a line for each phrase."""
    body = "".join(f"{weight:.3f} {phrase}\n" for phrase, weight in sorted(weights.phrases().items()))
    times = Counter((each.source, each.malicious) for each in texts)
    learnt = Counter(each.malicious for each in texts)
    sources = {source for source, _ in times}
    digest = sha256("\n".join(sorted(f"{source} {bad} {count}" for (source, bad), count in times.items())).encode())
    rest = "\n".join(
        (
            "# How much each phrase speaks for an attack (above 0) or against one, for `published_attacks`.",
            f"# Made by `python -m tests.benchmarks.detection.learn` on {dt.datetime.now(dt.UTC):%Y-%m-%d}.",
            f"# learnt from: {learnt[True]} attacks, {learnt[False]} honest texts, {len(sources)} sources",
            f"# sources: {digest.hexdigest()[:16]}",
            f"# bias: {weights.bias:.4f}",
            *(f"# {line_name(kind, size)}: {line}" for (kind, size), line in lines.items()),
            "",
            body,
        )
    )
    return f"{DIGEST}{sha256(rest.encode()).hexdigest()}\n{rest}"


if __name__ == "__main__":
    typer.run(main)
