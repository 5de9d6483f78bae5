"""Whatever a definition contains, inspection ends, and what it gives is ours."""

from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from mcpguard.inspection.definitions.inspect import all_rules, combined_risk, inspect_definition
from mcpguard.inspection.detectors.detector import Surroundings
from mcpguard.inspection.texts.texts import MOST_READ, MOST_TEXTS, read_texts, strings
from tests.inspection.detectors.attacks import SAID

ATTACKS = [text for texts in SAID.values() for text in texts]
HIDDEN = st.text(st.sampled_from("ab \n\u200b\u202e\u200d\ufe0f\U000e0041\U000e007f\x1b\ud800🏴👩а"), max_size=12)
CODES = ["&#105;", "%41%42%43", "aWdub3Jl" * 4, "6a6b" * 8, "i g n o r e  i t", "\\x41" * 8, "10 " * 12]
PIECES = st.sampled_from([*ATTACKS, *CODES])
TEXTS = st.lists(PIECES | HIDDEN | st.text(st.characters(codec=None), max_size=8), max_size=4).map("".join)
USUAL = ["name", "description", "inputSchema", "properties", "x-mcp-header", "annotations", "enum", "~/a"]
KEYS = st.sampled_from(USUAL) | TEXTS
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=10,
)
DEFINITIONS = st.dictionaries(KEYS, JSON, max_size=5)
NEIGHBOURS = Surroundings("a", frozenset({"b"}), {"c": frozenset({"read_note", "", "\u202e", "x" * 300})})


def deep(levels: int) -> dict[str, Any]:
    definition: dict[str, Any] = {}
    for _ in range(levels):
        definition = {"a": [definition], "b": ATTACKS[0]}
    return definition


@settings(deadline=None)
@example({"inputSchema": {"name": float("inf"), "description": "\ud800"}})
@given(DEFINITIONS)
def test_findings_are_ours_and_lie_within_what_they_are_found_in(definition: dict[str, Any]) -> None:
    found = inspect_definition(definition, NEIGHBOURS)
    lengths = _all(definition) | {path: len(text or "") for path, text, _ in strings(definition)}
    ours = {(each.id, each.threat, each.title) for each in all_rules()}
    for each in found.findings:
        assert (each.rule, each.threat, each.title) in ours
        assert 0 <= each.confidence <= 1
        if not each.evidence.path.endswith("…"):
            assert 0 <= each.evidence.start <= each.evidence.end <= lengths[each.evidence.path]
    assert 0 <= found.risk <= 100
    assert found.flagged or (not found.hard and found.risk < 40)


def _all(definition: dict[str, Any]) -> dict[str, int]:
    """Names of parameters and the tool's own, which are looked at whatever they are; and its schemas as wholes."""
    name = definition.get("name")
    return {"/inputSchema": 0, "/outputSchema": 0} | ({"/name": len(name)} if isinstance(name, str) else {})


@settings(deadline=None)
@given(DEFINITIONS)
def test_the_same_definition_gives_the_same_findings(definition: dict[str, Any]) -> None:
    assert inspect_definition(definition, NEIGHBOURS) == inspect_definition(definition, NEIGHBOURS)


def test_no_rule_has_two_meanings() -> None:
    ids = [each.id for each in all_rules()]
    assert len(ids) == len(set(ids))
    assert all(each.title and each.title[-1] != "." and 0 <= each.confidence < 1 for each in all_rules())


def test_what_is_too_large_is_read_in_part_and_says_so() -> None:
    for definition in (
        {"description": "a " * 1_000_000},
        {"enum": ["do not tell the user"] * 100_000},
        {"properties": {f"key_{at}": {"description": "text " * 20} for at in range(20_000)}},
        {"enum": [["x"] * 10] * 100_000},
        {"enum": [1] * 1_000_000},
        deep(5_000),
    ):
        read = read_texts(definition)
        assert read.cut is not None
        assert len(read.texts) <= MOST_TEXTS
        assert sum(len(text.raw) for text in read.texts) <= MOST_READ
        assert "inspection.cut" in {each.rule for each in inspect_definition(definition).findings}


def test_of_a_long_text_the_end_is_read_too() -> None:
    found = inspect_definition({"description": "a text. " * 100_000 + ATTACKS[0]})
    assert found.flagged
    assert all(each.evidence.end <= 800_000 + len(ATTACKS[0]) for each in found.findings)


def test_numbers_and_nothing_are_passed_over() -> None:
    assert inspect_definition({"a": [1] * 10_000, "b": None, "c": {}}).findings == ()
    assert inspect_definition({}).findings == ()


def test_depth_is_no_matter() -> None:
    assert inspect_definition(deep(20)).flagged
    assert inspect_definition(deep(5_000)).flagged


def test_saying_it_twice_is_no_more_of_a_risk() -> None:
    alone = Surroundings(compared=False)
    once = inspect_definition({"description": ATTACKS[0]}, alone)
    assert inspect_definition({"description": " ".join([ATTACKS[0]] * 5)}, alone).risk == once.risk
    assert combined_risk(()) == 0
