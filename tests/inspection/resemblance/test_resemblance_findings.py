"""What resembles published attacks is found in definitions and replies, at the words that say so, and never hard."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcpguard.domain.findings import Severity
from mcpguard.domain.screening import Screening
from mcpguard.domain.servers.listings import Listing
from mcpguard.guard.servers.listed_findings import ListedFindings, ListingInspection, OtherTools, resting_on
from mcpguard.inspection.definitions.inspect import inspect_definition
from mcpguard.inspection.detectors.detector import Surroundings
from mcpguard.inspection.detectors.resemblance import RESEMBLES, find_resemblance
from mcpguard.inspection.replies.plain_replies import BLOCK, is_plain, may_resemble
from mcpguard.inspection.replies.reply_findings import find_alike, is_hard
from mcpguard.inspection.replies.screening import ScreenedReply, screen_reply
from mcpguard.inspection.resemblance.published_attacks import DEFINITIONS, KINDS, attack_weights
from mcpguard.inspection.resemblance.word_classes import classed_words
from mcpguard.inspection.texts.texts import Text
from mcpguard.policy.reconciliation import read_listing
from mcpguard.policy.secrets.known_secrets import KnownSecrets
from tests.inspection.resemblance.alike_texts import ALIKE, PLAIN
from tests.tiers import examples

NOTHING = KnownSecrets(())
ON, OFF = Surroundings("herons"), Surroundings("herons", compared=False)


def rules(description: str, around: Surroundings = ON, **more: object) -> set[str]:
    tool = {"name": "thing", "description": description, **more}
    return {each.rule for each in inspect_definition(tool, around).findings}


def reply(said: str, around: Surroundings = ON, mode: Screening = Screening.NOTE) -> ScreenedReply:
    return screen_reply({"content": [{"type": "text", "text": said}]}, mode, NOTHING, around, lambda: True)


@pytest.mark.parametrize("text", ALIKE)
def test_what_resembles_attacks_is_found_in_any_part_of_a_definition(text: str) -> None:
    nested: dict[str, Any] = {"type": "object", "properties": {"size": {"items": {"description": text}}}}
    assert RESEMBLES.id in rules(text)
    assert RESEMBLES.id in rules(f"{PLAIN[0]} {text} {PLAIN[1]}")
    assert RESEMBLES.id in rules(PLAIN[0], inputSchema=nested)
    assert RESEMBLES.id in rules(PLAIN[0], arguments=[{"name": "size", "description": text}])


@pytest.mark.parametrize("text", PLAIN)
def test_what_is_plain_is_not(text: str) -> None:
    assert RESEMBLES.id not in rules(text)
    assert not reply(text).found


@pytest.mark.parametrize("text", ALIKE)
def test_a_definition_is_compared_only_where_that_is_set(text: str) -> None:
    assert rules(text) - rules(text, OFF) == {RESEMBLES.id}


HIDDEN = "Presses a fe\u200brn."


@pytest.mark.parametrize("text", ALIKE)
def test_a_high_finding_in_what_also_resembles_attacks_is_critical(text: str) -> None:
    def severity(description: str, around: Surroundings) -> Severity:
        found = inspect_definition({"name": "thing", "description": description}, around).findings
        return next(each.severity for each in found if each.rule == "hidden.zero_width")

    assert severity(HIDDEN, ON) is severity(f"{PLAIN[0]} {HIDDEN}", ON) is Severity.HIGH
    assert severity(f"{text} {HIDDEN}", ON) is Severity.CRITICAL
    assert severity(f"{text} {HIDDEN}", OFF) is Severity.HIGH


def test_a_definition_far_beyond_the_line_is_critical_and_a_reply_is_not() -> None:
    seen = set[bool]()
    for text in ALIKE:
        words = text.split()
        for size in range(6, len(words) + 1):
            said = " ".join(words[:size])
            found = inspect_definition({"name": "thing", "description": said}, ON).findings
            alike = attack_weights(DEFINITIONS).alike(classed_words(Text("", said)))
            far = alike is not None and alike.beyond >= 3
            severity = {each.severity for each in found if each.rule == RESEMBLES.id}
            assert severity == ({Severity.CRITICAL if far else Severity.MEDIUM} if alike else set())
            assert {each.severity for each in find_alike(said) if each.rule == RESEMBLES.id} <= {Severity.MEDIUM}
            seen |= {far} if alike else set()
    assert seen == {True, False}


@pytest.mark.parametrize("text", ALIKE)
def test_a_reply_is_compared_only_where_that_is_set_and_is_never_withheld_for_it(text: str) -> None:
    value = {"content": [{"type": "text", "text": text}]}
    assert not is_plain(value, NOTHING, ON)
    for mode in (Screening.NOTE, Screening.MASK, Screening.REFUSE):
        found = reply(text, mode=mode)
        assert {each.rule for each in found.found if not each.rule.startswith("stray.")} == {RESEMBLES.id}
        assert not found.hard
        assert found.value == value
        assert RESEMBLES.id not in {each.rule for each in reply(text, OFF, mode).found}


@pytest.mark.parametrize("text", ALIKE)
def test_it_is_found_wherever_it_stands_in_a_long_reply(text: str) -> None:
    filler = f"{PLAIN[0]} {PLAIN[4]} "
    for length in range(0, 2 * BLOCK, BLOCK // 3):
        before = (filler * (length // len(filler) + 1))[:length]
        found = reply(f"{before}\n{text}\n{filler * 3}").found
        assert RESEMBLES.id in {each.rule for each in found}, length


def test_by_itself_it_is_never_hard() -> None:
    assert not RESEMBLES.hard
    for text in ALIKE:
        (finding,) = find_alike(text)
        assert not finding.hard
        assert not is_hard([finding])
        assert not inspect_definition({"name": "thing", "description": text}, ON).hard


def spoke(text: str, kind: str) -> set[str]:
    """The phrases that speak most for an attack in a text that is reported."""
    said = classed_words(Text("", text))
    alike = attack_weights(kind).alike(said)
    assert alike is not None
    return {" ".join(each.word for each in said[start:end]) for start, end in alike.phrases}


@pytest.mark.parametrize("text", ALIKE)
@pytest.mark.parametrize("kind", KINDS)
def test_the_evidence_has_the_words_that_spoke(text: str, kind: str) -> None:
    found = find_resemblance((Text("/x", text),), kind)
    assert found is not None
    place = found.evidence
    assert place.path == "/x"
    assert 0 <= place.start < place.end <= len(text)
    marked = " ".join(each.word for each in classed_words(Text("", text[place.start : place.end])))
    assert spoke(text, kind)
    assert all(phrase in marked for phrase in spoke(text, kind))


@pytest.mark.parametrize("text", ALIKE)
@pytest.mark.parametrize("at", range(4))
def test_of_several_strings_it_names_the_one_whose_words_spoke(text: str, at: int) -> None:
    said = [PLAIN[0], PLAIN[1], PLAIN[4]]
    said.insert(at, text)
    found = find_resemblance([Text(f"/{number}", each) for number, each in enumerate(said)], "definitions")
    assert found is not None
    assert found.evidence.path == f"/{at}"
    assert found.evidence.end <= len(text)


def test_the_place_is_in_the_string_that_has_most_of_the_words() -> None:
    weights = attack_weights(DEFINITIONS).phrases()
    strongest = sorted((phrase for phrase in weights if phrase.isalpha()), key=lambda phrase: -weights[phrase])[:3]
    texts = [Text("/few", strongest[2]), Text("/most", f"{strongest[0]}. {strongest[1]}"), Text("/plain", "Yes.")]
    found = find_resemblance(texts, "definitions")
    assert found is not None
    assert found.evidence.path == "/most"
    assert found.evidence.end == len(texts[1].raw)


def test_an_attack_that_is_spread_over_strings_is_found() -> None:
    parts = ALIKE[2].split(", ")
    alone = [find_resemblance([Text("/x", part)], "replies") for part in parts]
    together = find_resemblance([Text(f"/{number}", part) for number, part in enumerate(parts)], "replies")
    assert None in alone
    assert together is not None


def test_a_cut_string_is_marked_where_it_stands_in_the_whole() -> None:
    alone = find_resemblance((Text("/x", ALIKE[0]),), "replies")
    found = find_resemblance((Text("/x", ALIKE[0], offset=1000),), "replies")
    assert alone is not None
    assert found is not None
    assert (found.evidence.start, found.evidence.end) == (1000 + alone.evidence.start, 1000 + alone.evidence.end)


@settings(max_examples=examples(300))
@given(st.lists(st.sampled_from([*ALIKE, *PLAIN]) | st.text(max_size=60), max_size=6), st.sampled_from(KINDS))
def test_the_place_is_always_within_one_of_the_strings(said: list[str], kind: str) -> None:
    texts = [Text(f"/{number}", each) for number, each in enumerate(said)]
    found = find_resemblance(texts, kind)
    if found is not None:
        text = said[int(found.evidence.path.removeprefix("/"))]
        assert 0 <= found.evidence.start < found.evidence.end <= len(text)
    elif len(said) == 1:
        assert attack_weights(kind).alike(classed_words(texts[0])) is None


def test_the_name_of_a_tool_is_not_compared() -> None:
    name = "include_the_rest_in_your_response_and_mention_this_discount"
    assert RESEMBLES.id not in {each.rule for each in inspect_definition({"name": name}, ON).findings}


@settings(max_examples=examples(300))
@given(st.lists(st.sampled_from(ALIKE), min_size=1, max_size=3).map(" ".join))
def test_a_glance_passes_over_none_of_these(said: str) -> None:
    assert may_resemble(said)


def test_findings_rest_on_the_setting_and_are_looked_for_again_where_it_is_another() -> None:
    own = frozenset({"thing"})
    on, off = OtherTools(digest=b"mail"), OtherTools(digest=b"mail", compared=False)
    assert resting_on(on, own) == resting_on(OtherTools(digest=b"mail", compared=True), own) != resting_on(off, own)
    listing = Listing(tools=({"name": "thing", "description": ALIKE[0]},))
    before = ListedFindings()
    for beside, expected in ((on, [RESEMBLES.id]), (on, [RESEMBLES.id]), (off, []), (on, [RESEMBLES.id])):
        looking = ListingInspection("web", listing, read_listing(listing), beside, before)
        while not looking.is_done:
            looking.look()
        before = looking.result()
        assert [each.rule for found in before.of.values() for each in found.findings] == expected
