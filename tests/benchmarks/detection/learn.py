"""`python -m tests.benchmarks.detection.learn FOLDER… --of KIND --out FILE`: makes the weights of the comparison with
published attacks, for definitions or for replies.

The folders have labelled definitions, replies and snippets (`labelled`). From which score on a text is reported is
decided with one source left out in turn: so that few honest texts of sources that were not learnt from reach it.
"""

import datetime as dt
from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Final, Literal

import numpy as np
import typer

from mcpguard.inspection.resemblance.published_attacks import (
    DEFINITIONS,
    DIGEST,
    REPLIES,
    SIZES,
    AttackWeights,
    Lines,
    line_name,
    read_weights,
)
from tests.benchmarks.detection.labelled import Labelled, read_labelled
from tests.benchmarks.detection.learning import NONE_BEFORE, learn, windows_of
from tests.benchmarks.detection.left_out import kind_of, left_out_scores

HONEST: Final = {DEFINITIONS: 0.004, REPLIES: 0.003}
"""Shares of honest texts of left-out sources that may reach the line of each size of window."""
Kind = Literal["definitions", "replies"]


def main(
    places: Annotated[list[Path], typer.Argument(metavar="FOLDER…", help="Labelled texts.")],
    of: Annotated[Kind, typer.Option(help="The kind of texts that are compared.")],
    out: Annotated[Path, typer.Option(metavar="FILE", help="The file to write.")],
    further: Annotated[Path | None, typer.Option(metavar="FILE", help="Weights to learn further from.")] = None,
) -> None:
    """Learn the weights, and the lines above which a text is reported."""
    texts = list(read_labelled(places))
    before = NONE_BEFORE if further is None else read_weights(further.read_text("utf-8"))
    lines = lines_of(of, texts, left_out_scores(texts, before))
    out.write_text(as_text(learn(windows_of(texts), before), lines, texts), "utf-8")
    typer.echo(f"{out}: learnt from {len(texts)} texts; lines {lines}")


def lines_of(kind: str, texts: Sequence[Labelled], scores: Sequence[tuple[float, ...]]) -> Lines:
    """Return the scores that only so few honest texts reach. `scores` are of weights that were learnt without them."""
    return {size: _line(texts, scores, kind, at) for at, size in enumerate(SIZES)}


def _line(texts: Sequence[Labelled], scores: Sequence[tuple[float, ...]], kind: str, at: int) -> float:
    honest = [
        score[at]
        for each, score in zip(texts, scores, strict=True)
        if score and not each.malicious and kind_of(each) == kind
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
            *(f"# {line_name(size)}: {line}" for size, line in lines.items()),
            "",
            body,
        )
    )
    return f"{DIGEST}{sha256(rest.encode()).hexdigest()}\n{rest}"


if __name__ == "__main__":
    typer.run(main)
