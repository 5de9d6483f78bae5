"""What is looked for only where a text has a trace of it is found wherever it is."""

import re
from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from mcpguard.inspection.reading.codes import CODES, Code, runs_in
from tests.tiers import examples

LONG_WORD = re.compile(r"\S{16,}")
beside = st.text(st.sampled_from("aB90 -._*,:/|\n\u00e9\u00b7\u2009"), max_size=8)


def run_of(code: Code) -> st.SearchStrategy[str]:
    """Texts that the pattern of an encoding matches, most of them as short as can be."""
    greedy = code.run.pattern.replace("}+", "}").replace("++", "+")
    shortest = re.sub(r"\{(\d+),\}", r"{\1}", greedy)
    return st.from_regex(shortest, fullmatch=True) | st.from_regex(greedy, fullmatch=True)


@given(st.sampled_from(CODES).flatmap(run_of), beside, beside)
@settings(max_examples=examples(500), deadline=None)
def test_every_run_is_found(run_text: str, before: str, after: str) -> None:
    text = before + run_text + after
    found = Counter((code.name, start + run.start(), run[0]) for code, run, start in runs_in(text))
    words = [(word[0], word.start()) for word in LONG_WORD.finditer(text)]
    runs = Counter(
        (code.name, start + run.start(), run[0])
        for code in CODES
        for part, start in (words if code.unbroken >= 16 else [(text, 0)])
        for run in code.run.finditer(part)
        if not code.marks or not code.marks.isdisjoint(text)
    )
    assert found == runs
