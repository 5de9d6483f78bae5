"""Long replies: what of them is told at once, and that nothing is lost."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from mcpguard.gateway.tools.shortening import BETWEEN, shorten

TEXTS = some.text(max_size=40)
ITEMS = some.one_of(
    TEXTS.map(lambda text: {"type": "text", "text": text}),
    TEXTS.map(lambda text: {"type": "resource", "resource": {"uri": "a:b", "text": text}}),
    TEXTS.map(lambda name: {"type": "resource_link", "uri": "a:b", "name": name}),
    TEXTS.map(lambda data: {"type": "image", "data": data, "mimeType": "image/png"}),
    some.just({"type": "resource", "resource": {"uri": "a:b", "blob": "AAAA"}}),
)
RESULTS = some.fixed_dictionaries(
    {"content": some.lists(ITEMS, max_size=6)},
    optional={"structuredContent": some.dictionaries(TEXTS, TEXTS, max_size=3), "isError": some.booleans()},
)
Json = dict[str, Any]


def texts(result: Json) -> list[str]:
    found = []
    for item in result["content"]:
        if item["type"] == "text":
            found.append(item["text"])
        elif "text" in item.get("resource", ()):
            found.append(item["resource"]["text"])
        elif item["type"] == "resource_link":
            found.append(json.dumps(item, separators=(",", ":"), ensure_ascii=False))
    return found


def whole(items: list[Json]) -> list[Json]:
    return [item for item in items if "data" in item or "blob" in item.get("resource", ())]


@given(RESULTS, some.integers(1, 60))
def test_no_more_is_told_than_may_be_and_nothing_is_lost(result: Json, most: int) -> None:
    cut = shorten(result, most)
    structure = result.get("structuredContent")
    if cut is None:
        assert len(BETWEEN.join(texts(result))) <= most
        return
    assert len(BETWEEN.join(texts(cut.told))) <= most
    assert cut.text[: cut.shown].startswith(BETWEEN.join(texts(cut.told)))
    assert cut.text.startswith(BETWEEN.join(texts(result)))
    assert whole(cut.told["content"]) == whole(result["content"]), "what is no text is told whole"
    assert cut.told.get("isError") == result.get("isError")
    if structure is not None:
        said = json.loads(json.dumps(structure))
        rest = cut.text.removeprefix(BETWEEN.join(texts(result))).strip()
        repeated = list(said.values()) in ([texts(result)], texts(result)) or any(
            _is(text, said) for text in texts(result)
        )
        assert cut.told.get("structuredContent") == said or repeated or _is(rest, said)


def _is(text: str, structure: object) -> bool:
    try:
        return bool(json.loads(text) == structure)
    except ValueError:
        return False


def test_what_is_short_is_left_alone() -> None:
    assert shorten({"content": [{"type": "text", "text": "x" * 10}], "structuredContent": {"a": 1}}, 10) is None


def test_a_structure_that_a_text_repeats_is_kept_once() -> None:
    structure = {"rows": ["x" * 50]}
    cut = shorten({"content": [{"type": "text", "text": json.dumps(structure)}], "structuredContent": structure}, 20)
    assert cut is not None
    assert cut.text == json.dumps(structure)
    assert cut.told == {"content": [{"type": "text", "text": json.dumps(structure)[:20]}]}


@pytest.mark.parametrize("texts", [["x" * 50], ["x" * 50, "y"]])
def test_texts_under_a_name_are_a_repetition(texts: list[str]) -> None:
    structure = {"result": texts[0] if len(texts) == 1 else texts}
    content = [{"type": "text", "text": text} for text in texts]
    cut = shorten({"content": content, "structuredContent": structure}, 20)
    assert cut is not None
    assert cut.text == "\n".join(texts)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (None, []),
        (7, ["7"]),
        ("a", ['"a"']),
        ({"type": "text", "text": "b"}, ["b"]),
        ([7, "a", None, ["c"]], ["7", '"a"', "null", '["c"]']),
    ],
)
def test_what_is_no_list_of_items_is_told_as_one(content: object, told: list[str]) -> None:
    cut = shorten({"content": content, "structuredContent": {"rows": "x" * 50}}, 40)
    assert cut is not None
    *items, structure = cut.told["content"]
    assert items == [{"type": "text", "text": text} for text in told]
    assert cut.text == "\n".join([*told, '{"rows":"' + "x" * 50 + '"}'])
    assert structure["text"].startswith('{"rows"')


def test_a_structure_of_its_own_follows_the_text() -> None:
    cut = shorten({"content": [{"type": "text", "text": "rows:"}], "structuredContent": {"rows": "x" * 50}}, 20)
    assert cut is not None
    assert cut.text == 'rows:\n{"rows":"' + "x" * 50 + '"}'
    assert cut.told["content"] == [{"type": "text", "text": "rows:"}, {"type": "text", "text": '{"rows":"xxxxx'}]


def test_the_many_items_of_a_hostile_server_are_text_too() -> None:
    links = [{"type": "resource_link", "uri": f"a:{number}", "name": "b"} for number in range(1000)]
    cut = shorten({"content": links}, 100)
    assert cut is not None
    assert cut.shown == 100
    assert len(cut.told["content"]) <= 3
