"""A tool that names many subjects in order to be found is noted, however it says them, and honest tools are not."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcpguard.domain.findings import Finding, Severity
from mcpguard.inspection.definitions.inspect import inspect_definition
from mcpguard.inspection.detectors.detector import Surroundings
from mcpguard.inspection.vocabulary import SUBJECTS
from tests.catalog.search.golden.golden import servers

RULE = "promotion.subjects"
EVERYDAY = [
    *("weather", "email", "calendar", "invoice", "flight", "recipe"),
    *("stock", "song", "movie", "repository", "database", "translation"),
]
TOOLS = {name: frozenset(tool["name"] for tool in tools) for name, tools in servers().items()}
ALONE = Surroundings("new")
BESIDE = Surroundings("new", frozenset(), TOOLS)
FORMS: Mapping[str, Callable[[list[str]], dict[str, Any]]] = {
    "list": lambda words: tool("_".join(words[:3]), "", ", ".join(words) + "."),
    "bare": lambda words: tool("_".join(words[:3]), "", " ".join(words)),
    "sentences": lambda words: tool("_".join(words[:3]), "", ". ".join(map(str.title, words)) + ". Does it all."),
    "lines": lambda words: tool("helper", "", "Helps with:\n- " + "\n- ".join(words)),
    "name and title": lambda words: tool("_".join(words[:6]), " ".join(words[6:]).title(), "Answers questions."),
    "title alone": lambda words: tool("helper", " ".join(words).title(), "Answers questions."),
    "sentence": lambda words: tool("helper", "", f"Use it for {', '.join(words[:-1])} and {words[-1]} of yours."),
}


def tool(name: str, title: str, description: str) -> dict[str, Any]:
    return {"name": name, "title": title, "description": description, "inputSchema": {"type": "object"}}


def stuffed(definition: Mapping[str, Any], around: Surroundings = ALONE) -> Finding | None:
    return next((each for each in inspect_definition(definition, around).findings if each.rule == RULE), None)


@pytest.mark.parametrize("around", [ALONE, BESIDE], ids=["first server", "beside others"])
@pytest.mark.parametrize("form", FORMS)
def test_everyday_words_are_noted_in_every_form(form: str, around: Surroundings) -> None:
    assert stuffed(FORMS[form](EVERYDAY), around)


def test_a_flood_of_tools_with_other_words_each_is_noted_in_most_of_them() -> None:
    first = [said.split()[0] for said in SUBJECTS.values()]
    flood = [FORMS[form](first[at : at + 40 : 4]) for at in range(3) for form in FORMS]
    noted = [each for each in flood if stuffed(each, BESIDE)]
    assert len(noted) * 4 >= len(flood) * 3


@pytest.mark.parametrize("server", TOOLS)
def test_honest_servers_have_no_such_tool(server: str) -> None:
    around = Surroundings(server, TOOLS[server], {name: tools for name, tools in TOOLS.items() if name != server})
    for each in servers()[server]:
        assert stuffed(each, around) is None
        assert stuffed(each, ALONE) is None


@settings(deadline=None)
@given(st.data(), st.sampled_from([*SUBJECTS.values()]), st.sampled_from([*FORMS]))
def test_many_words_of_one_subject_are_honest(data: st.DataObject, subject: str, form: str) -> None:
    words = data.draw(st.lists(st.sampled_from(subject.split()), min_size=8, max_size=12))
    assert stuffed(FORMS[form]([*words, "the"])) is None


@settings(deadline=None)
@given(st.permutations(EVERYDAY), st.permutations([*TOOLS]))
def test_neither_the_order_of_words_nor_that_of_servers_makes_a_difference(words: list[str], names: list[str]) -> None:
    found = stuffed(FORMS["list"](words), Surroundings("new", frozenset(), {name: TOOLS[name] for name in names}))
    usual = stuffed(FORMS["list"](words), BESIDE)
    assert found is not None
    assert found == usual


def test_the_finding_is_a_hint() -> None:
    found = inspect_definition(FORMS["title alone"](EVERYDAY), replace(BESIDE, compared=False))
    assert [each.severity for each in found.findings if each.rule == RULE] == [Severity.MEDIUM]
    assert not found.grave
    assert not found.flagged


def test_the_finding_says_where_the_words_are_and_whose() -> None:
    definition = tool("helper", "", f"Try {', '.join(EVERYDAY)}, and more. Returns text.")
    others = {
        "post": frozenset({"send_email"}),
        "sky": frozenset({"get_weather", "list_storms"}),
        "none": frozenset({"x"}),
    }
    found = stuffed(definition, Surroundings("new", frozenset(), others))
    assert found is not None
    place = found.evidence
    assert definition[place.path[1:]][place.start : place.end].split(", ") == EVERYDAY
    assert found.about == (
        "its words are in the names of 2 tools of 2 other servers, such as post:send_email, sky:get_weather"
    )
    alone = stuffed(definition)
    assert alone is not None
    assert alone.about == ""


def test_few_others_are_named_and_long_names_cut() -> None:
    others = {f"server{at}": frozenset({f"email_{'x' * 200}"}) for at in range(30)}
    found = stuffed(FORMS["list"](EVERYDAY), Surroundings("new", frozenset(), others))
    assert found is not None
    assert found.about.startswith("its words are in the names of 30 tools of 30 other servers")
    assert len(found.about) < 300


def test_a_word_of_this_house_is_a_subject_once_several_servers_have_it() -> None:
    own = ["heron", "fern", "lichen", "gravel", "pottery", "loom", "kiln", "bobbin"]
    definition = FORMS["list"](own)
    one = {"crafts": frozenset(f"show_{word}" for word in own)}
    assert stuffed(definition, Surroundings("new", frozenset(), one)) is None
    two = {**one, "attic": frozenset(f"count_{word}s" for word in own)}
    assert stuffed(definition, Surroundings("new", frozenset(), two))


def test_a_long_sentence_about_one_thing_is_none() -> None:
    text = (
        "Sends an email to a contact, with the date of the meeting, the address of the hotel and the price of a flight."
    )
    assert stuffed(tool("send_itinerary", "Send itinerary", text), BESIDE) is None


def test_words_behind_the_beginning_do_not_count() -> None:
    begins = "Returns the depth of the pond at a given place, in metres below its usual surface. "
    assert stuffed(tool("depth", "", begins + ", ".join(EVERYDAY)), BESIDE) is None
    assert stuffed(tool("depth", "", "Depth. " + ", ".join(EVERYDAY)), BESIDE)
