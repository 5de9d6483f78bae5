"""Which effect is suggested for a tool, and which one its server declares."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpguard.domain.capabilities import Effect
from mcpguard.policy import verbs
from mcpguard.policy.effect_signs import LONGEST_NAME, LONGEST_TEXT, MOST_CHOICES, MOST_PARAMETERS
from mcpguard.policy.effects import Suggestion, careful_effect, declared_effect, suggest_effect
from mcpguard.policy.lexicon import plain_text
from tests.policy.golden import tools

CARE = list(Effect)
AGREEING = 0.95
READING = verbs.READ.split()
WRITING = verbs.WRITE.split()
DESTROYING = verbs.DESTRUCTIVE.split()
NOUNS = verbs.NOUNS.split()
OURS = {
    word
    for name, text in vars(verbs).items()
    if name.isupper() and isinstance(text, str)
    for word in (*text.split(), *map(plain_text, text.split()))
} | {*verbs.PHRASES, *verbs.STEMS.values()}
SENTENCES = {
    "nothing indicates that it only reads",
    "its name is too long, inspected in part",
    "its name has letters that may be homoglyphs",
    "its title is too long, inspected in part",
    "its description is too long, inspected in part",
    "too many or too long parameters, inspected in part",
    "too many or too long choices, inspected in part",
    'its name says "…"',
    'its name says "…", and it is given "…"',
    'its title begins with "…"',
    'its title says "…"',
    'its description begins with "…"',
    'its description says "…"',
    'it takes "…"',
    'it takes "…" and "…"',
    'it can be told to "…"',
}
THINGS = ["user", "Files", "x", "orders", "2", "page", "weather", "deleted", "command", "request", "ü"]
BLOCKS = st.sampled_from([*READING, *WRITING, *THINGS, "and", "pull", "get", "list"])
NAMES = st.lists(BLOCKS, min_size=1, max_size=5)
STYLES = {"snake": "_".join, "kebab": "-".join, "dotted": ".".join, "blank": " ".join, "shouted": "_".join}
TEXTS = st.lists(BLOCKS | st.sampled_from([*DESTROYING, ". ", "删除", "permanently"]) | st.text(max_size=6)).map(
    " ".join
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS | st.text(st.characters(), max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["properties", "enum", "const", "title", "action", "sql"]) | TEXTS, inner, max_size=4
        )
    ),
    max_leaves=12,
)
KEYS = st.sampled_from(["name", "title", "description", "inputSchema", "annotations", "readOnlyHint"])


def named(name: str, description: str = "") -> dict[str, Any]:
    return {"name": name, "description": description, "inputSchema": {"type": "object", "properties": {}}}


def written(words: list[str], style: str) -> str:
    if style == "camel":
        return "".join(word[:1].upper() + word[1:] for word in words)
    return STYLES[style]([word.upper() for word in words] if style == "shouted" else words)


def rank(suggestion: Suggestion) -> int:
    return CARE.index(suggestion.effect)


def test_it_agrees_with_a_careful_reviewer_and_is_never_less_careful() -> None:
    judged = [(CARE.index(Effect(effect)), rank(suggest_effect(tool)), tool["name"]) for effect, tool in tools()]
    assert len(judged) > 120
    assert not [name for right, ours, name in judged if ours < right]
    assert sum(right == ours for right, ours, _ in judged) >= AGREEING * len(judged)


@given(NAMES, st.sampled_from(DESTROYING), st.integers(0, 5), st.sampled_from([*STYLES, "camel"]), TEXTS)
def test_a_destructive_verb_in_the_name_never_makes_a_tool_look_safer(
    words: list[str], verb: str, at: int, style: str, description: str
) -> None:
    before = suggest_effect(named(written(words, style), description))
    after = suggest_effect(named(written([*words[:at], verb, *words[at:]], style), description))
    assert rank(after) >= rank(before)
    assert verb in NOUNS or after.effect is Effect.DESTRUCTIVE


@given(
    st.text("abcxyzABC_-. ", max_size=20),
    st.sampled_from(sorted(verbs.STEMS.values())),
    st.text("abcxyz_-", max_size=20),
)
def test_the_worst_verbs_count_whatever_they_are_written_together_with(before: str, verb: str, after: str) -> None:
    for name in (before + verb + after, before + verb.upper() + after, before + verb.title() + after):
        assert suggest_effect(named(name, "Get it")).effect is Effect.DESTRUCTIVE


@pytest.mark.parametrize(
    "name",
    [
        "de\u200blete_file",
        "\uff44\uff45\uff4c\uff45\uff54\uff45_file",
        "DÉLÈTE-file",
        "get\u202edelete",
        "d\u0301elete",
        "list\U0001d41d\U0001d41e\U0001d425\U0001d41e\U0001d42d\U0001d41e",
        "KILLuser",
        "killUser2",
    ],
)
def test_how_letters_are_dressed_up_hides_nothing(name: str) -> None:
    assert suggest_effect(named(name)).effect is Effect.DESTRUCTIVE


@pytest.mark.parametrize("name", ["get_d\u0435lete", "list_всё", "g\u0435t_user", "удалить", "検索"])
def test_a_name_with_letters_that_we_do_not_read_is_not_taken_for_reading(name: str) -> None:
    assert suggest_effect(named(name, "Gets a user.")).effect is Effect.WRITE


@given(st.dictionaries(KEYS, JSON, max_size=6))
def test_whatever_a_server_says_the_reason_is_in_our_words(definition: dict[str, Any]) -> None:
    because = suggest_effect(definition).because
    assert re.sub(r'"[^"]*"', '"…"', because) in SENTENCES
    assert set(re.findall(r'"([^"]*)"', because)) <= OURS
    assert declared_effect(definition) in {None, *Effect}


@given(st.dictionaries(KEYS, JSON, max_size=6))
def test_nothing_is_taken_for_reading_but_what_says_so(definition: dict[str, Any]) -> None:
    suggestion = suggest_effect(definition)
    if suggestion.effect is Effect.READ:
        assert set(re.findall(r'"([^"]*)"', suggestion.because)) <= {
            *READING, *verbs.READ_IN_TEXT.split(), *verbs.READ_SIGNS.split()
        }  # fmt: skip


def with_parameters(name: str, *parameters: str, **described: object) -> dict[str, Any]:
    properties = {**{each: {"type": "string"} for each in parameters}, **described}
    return named(name) | {"inputSchema": {"type": "object", "properties": properties}}


READ = Effect.READ
WRITE = Effect.WRITE
DESTRUCTIVE = Effect.DESTRUCTIVE


@pytest.mark.parametrize(
    ("tool", "effect", "because"),
    [
        (named("get_user"), READ, 'its name says "get"'),
        (named("get_post"), READ, 'its name says "get"'),
        (named("get_or_post"), WRITE, 'its name says "post"'),
        (named("post_get"), WRITE, 'its name says "post"'),
        (named("check_out"), WRITE, 'its name says "checkout"'),
        (named("pull_request_list"), READ, 'its name says "list"'),
        (named("get_and_delete"), DESTRUCTIVE, 'its name says "delete"'),
        (named("list_refund"), READ, 'its name says "list"'),
        (named("refund_order"), DESTRUCTIVE, 'its name says "refund"'),
        (named("get_user", "Deletes a user."), DESTRUCTIVE, 'its description begins with "delete"'),
        (named("users", "Deletes a user."), DESTRUCTIVE, 'its description begins with "delete"'),
        (named("users", "Use this tool to get users."), READ, 'its description begins with "get"'),
        (named("users", "Frobnicates and gets users."), WRITE, "nothing indicates that it only reads"),
        (named("get_users", "Lists users that were deleted."), READ, 'its name says "get"'),
        (named("get_users", "Lists users. Does not delete any."), WRITE, 'its description says "delete"'),
        (named("get_users", "Lists users. Cannot be undone."), WRITE, 'its description says "cannot be undone"'),
        (
            named("save", "Saves. What was there is gone permanently."),
            DESTRUCTIVE,
            'its description says "permanently"',
        ),
        (named("users") | {"title": "Remove users"}, DESTRUCTIVE, 'its title begins with "remove"'),
        (named("users") | {"annotations": {"title": "Get users"}}, READ, 'its title begins with "get"'),
        (with_parameters("query", "sql"), DESTRUCTIVE, 'it takes "sql"'),
        (with_parameters("get_page", "force"), WRITE, 'it takes "force"'),
        (with_parameters("save_page", "force"), DESTRUCTIVE, 'it takes "force"'),
        (with_parameters("get_note", "path", "content"), WRITE, 'it takes "path" and "content"'),
        (with_parameters("run_it", "code"), DESTRUCTIVE, 'its name says "run", and it is given "code"'),
        (with_parameters("get_it", "code"), READ, 'its name says "get"'),
        (with_parameters("get_it", action={"enum": ["get", "delete"]}), DESTRUCTIVE, 'it can be told to "delete"'),
        (with_parameters("get_it", action={"const": "update"}), WRITE, 'it can be told to "update"'),
        (with_parameters("get_it", color={"enum": ["delete"]}), READ, 'its name says "get"'),
        (named("get_it", "x" * (LONGEST_TEXT + 1)), WRITE, "its description is too long, inspected in part"),
        (named("get_" + "x" * LONGEST_NAME), DESTRUCTIVE, "its name is too long, inspected in part"),
        (
            with_parameters("get_it", *map(str, range(MOST_PARAMETERS + 1))),
            WRITE,
            "too many or too long parameters, inspected in part",
        ),
        (
            with_parameters("get_it", action={"enum": ["get"] * (MOST_CHOICES + 1)}),
            WRITE,
            "too many or too long choices, inspected in part",
        ),
        ({}, WRITE, "nothing indicates that it only reads"),
        ({"name": 1, "description": ["get"], "inputSchema": "get"}, WRITE, "nothing indicates that it only reads"),
    ],
)
def test_what_is_suggested_and_why(tool: dict[str, Any], effect: Effect, because: str) -> None:
    assert suggest_effect(tool) == Suggestion(effect, because)


ABSENT = object()


@pytest.mark.parametrize(
    ("reads", "destroys", "effect"),
    [
        (ABSENT, ABSENT, None),
        (None, None, None),
        (True, ABSENT, READ),
        (True, False, READ),
        (True, True, DESTRUCTIVE),
        (False, True, DESTRUCTIVE),
        (ABSENT, True, DESTRUCTIVE),
        (False, False, WRITE),
        (ABSENT, False, WRITE),
        (False, ABSENT, WRITE),
        ("true", ABSENT, None),
        (1, ABSENT, None),
        (1, False, WRITE),
        (True, "false", DESTRUCTIVE),
        (True, 0, DESTRUCTIVE),
    ],
)
def test_what_a_server_declares(reads: object, destroys: object, effect: Effect | None) -> None:
    hints = {"readOnlyHint": reads, "destructiveHint": destroys}
    assert (
        declared_effect({"annotations": {name: said for name, said in hints.items() if said is not ABSENT}}) is effect
    )


@pytest.mark.parametrize("annotations", [None, [], "readOnlyHint", {}, {"title": "Get"}])
def test_annotations_that_say_nothing_declare_nothing(annotations: object) -> None:
    assert declared_effect({"annotations": annotations}) is None
    assert declared_effect({"name": "get"}) is None


@pytest.mark.parametrize("one", Effect)
def test_the_most_careful_counts(one: Effect) -> None:
    assert careful_effect(None, one) is one
    for other in Effect:
        assert careful_effect(one, other) is careful_effect(other, one) is CARE[max(CARE.index(one), CARE.index(other))]


def test_every_word_stands_in_one_list() -> None:
    listed = [plain_text(word) for word in (*READING, *WRITING, *DESTROYING)]
    assert sorted(listed) == sorted(set(listed))
    assert set(NOUNS) <= {*WRITING, *DESTROYING}
    assert set(verbs.STEMS.values()) <= set(DESTROYING)
    assert not set(verbs.READ_IN_TEXT.split()) & set(listed)
