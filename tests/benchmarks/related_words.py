"""`python -m tests.benchmarks.related_words TOOLS.jsonl… --out FILE`: make the list of related words.

The model of the extra `semantic` places every English word that it knows by itself; words that it places near to each
other are related. Listed with each are the nearest of those that tools say: in the given files, a line for each tool,
`{name, title?, description}` or `{tool: {…}, label?}`, of which those that are labelled as attacks are left out. No
query is looked at, so the list knows no set of queries.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Final

import numpy as np
import orjson
import typer

from mcpguard.catalog.search.semantic.model_weights import Array
from mcpguard.catalog.search.semantic.sentence_model import SentenceModel
from mcpguard.catalog.search.stems import stem
from mcpguard.catalog.search.stopwords import STOP
from mcpguard.catalog.search.words import words

VOCABULARY: Final = resources.files("mcpguard.catalog.search.semantic") / "word_pieces.txt"
MOST: Final = 20
"""Words that are listed with one."""
NEAREST: Final = 0.37
"""The cosine from which two words are related."""
FEWEST_TOOLS: Final = 2
"""Tools that must say a word for it to be listed with others."""
_AT_ONCE: Final = 512
_WORD: Final = re.compile("[a-z]{3,}")
HEAD: Final = """\
# Words that are related, as stems: a word, and the words near to it, each with how near it is, in percent.
# Source: made by `python -m tests.benchmarks.related_words` from how all-MiniLM-L6-v2 (Apache-2.0) places single words.
# Left of the colon: the English words of that model. Right of it: those that tools say, in public sets of tools.
"""


def main(
    files: Annotated[list[Path], typer.Argument(metavar="TOOLS.jsonl…", help="Tools, whose words are listed.")],
    out: Annotated[Path, typer.Option(metavar="FILE", help="Where to write the list.")],
) -> None:
    """Make the list of related words."""
    pieces = VOCABULARY.read_text("utf-8").splitlines()
    known = [word for word in pieces if _WORD.fullmatch(word) and word not in STOP]
    model = SentenceModel.from_file()
    with typer.progressbar(known, label="words") as shown:
        vectors = np.stack([model.vector(word) for word in shown])
    related = related_words(known, vectors, said_by_tools(files))
    lines = (f"{word}: {' '.join(f'{other} {percent}' for other, percent in near)}\n" for word, near in related)
    out.write_text(HEAD + "".join(lines))


def said_by_tools(files: Iterable[Path]) -> frozenset[str]:
    """Return the stems that at least two tools say."""
    said = Counter(term for tool in _tools(files) for term in {stem(word) for word in words(_text(tool))})
    return frozenset(term for term, tools in said.items() if tools >= FEWEST_TOOLS)


def related_words(
    known: Sequence[str], vectors: Array, said: frozenset[str]
) -> Iterator[tuple[str, Sequence[tuple[str, int]]]]:
    """Yield each stem with the nearest that tools say, in the order of the alphabet."""
    # All single words have something in common, which says nothing of any of them.
    centred = vectors - vectors.mean(axis=0)
    centred /= np.linalg.norm(centred, axis=1, keepdims=True)
    stems = [stem(word) for word in known]
    listed = [at for at, term in enumerate(stems) if term in said]
    near: dict[str, dict[str, float]] = {}
    for begin in range(0, len(known), _AT_ONCE):
        cosines = centred[begin : begin + _AT_ONCE] @ centred[listed].T
        for term, row in zip(stems[begin:], cosines, strict=False):
            of_term = near.setdefault(term, {})
            for at in np.flatnonzero(row >= NEAREST):
                other = stems[listed[at]]
                if other != term:
                    of_term[other] = max(of_term.get(other, 0.0), float(row[at]))
    for term, others in sorted(near.items()):
        if others:
            nearest = sorted(others.items(), key=lambda each: (-each[1], each[0]))[:MOST]
            yield term, [(other, round(100 * cosine)) for other, cosine in nearest]


def _tools(files: Iterable[Path]) -> Iterator[Mapping[str, Any]]:
    for file in files:
        for line in file.read_bytes().splitlines():
            read = orjson.loads(line)
            if read.get("label", "benign") == "benign":
                yield read.get("tool", read)


def _text(tool: Mapping[str, Any]) -> str:
    return " ".join(str(tool.get(part) or "") for part in ("name", "title", "description"))


if __name__ == "__main__":
    typer.run(main)
