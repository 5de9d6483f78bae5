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

from mcpguard.inspection.resemblance.published_attacks import DIGEST, AttackWeights
from tests.benchmarks.detection.labelled import Labelled, read_labelled
from tests.benchmarks.detection.learning import learn, windows_of
from tests.benchmarks.detection.left_out import left_out_scores

HONEST_DEFINITIONS: Final = 0.0025
HONEST_REPLIES: Final = 0.012
"""Shares of honest texts of left-out sources that may reach the line."""


def main(
    places: Annotated[list[Path], typer.Argument(metavar="FOLDER…", help="Labelled texts.")],
    out: Annotated[Path, typer.Option(metavar="FILE", help="The file to write.")],
) -> None:
    """Learn the weights, and the lines above which a text is reported."""
    texts = list(read_labelled(places))
    scores = left_out_scores(texts)
    lines = {
        "definitions": line_of(texts, scores, definitions=True),
        "replies": line_of(texts, scores, definitions=False),
    }
    out.write_text(as_text(learn(windows_of(texts)), lines, texts), "utf-8")
    typer.echo(f"{out}: learnt from {len(texts)} texts; lines {lines}")


def line_of(texts: Sequence[Labelled], scores: Sequence[float], *, definitions: bool) -> float:
    """Return the score that only so few honest texts reach. `scores` are of weights that were learnt without them."""
    honest = [
        score
        for each, score in zip(texts, scores, strict=True)
        if not each.malicious and (each.is_definition if definitions else each.is_reply)
    ]
    share = HONEST_DEFINITIONS if definitions else HONEST_REPLIES
    return round(float(np.quantile(honest, 1 - share)), 2) if honest else float("inf")


def as_text(weights: AttackWeights, lines: dict[str, float], texts: Sequence[Labelled]) -> str:
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
            *(f"# {name}: {line}" for name, line in lines.items()),
            "",
            body,
        )
    )
    return f"{DIGEST}{sha256(rest.encode()).hexdigest()}\n{rest}"


if __name__ == "__main__":
    typer.run(main)
