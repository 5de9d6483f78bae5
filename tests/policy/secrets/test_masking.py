"""What is secret is taken out wherever it is, the rest stays, and nothing is found afterwards."""

import base64
import json
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpguard.policy.secrets.detection import NOTHING, find_secrets
from mcpguard.policy.secrets.masking import HIDDEN, MaskedValue, mask_secrets, spellings
from mcpguard.policy.secrets.rules import rules
from tests.policy.secrets.made_up import HARMLESS, SURE, TOKEN, VALUES, WAYS, drawing

some = drawing(2)
JWT = "eyJ" + some(30) + ".eyJ" + some(40) + "." + some(43)
PLAIN = 'tr"ä/ïn+' + some(20)
SPLIT = SURE["private-key"].split("\n")


def b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("rule", SURE)
def test_a_secret_is_taken_out_however_it_is_wrapped(rule: str, way: str) -> None:
    value = WAYS[way](SURE[rule])
    left = mask_secrets(value)
    assert rule in left.rules
    assert left.count
    assert find_secrets(left.value).sure == ()
    assert SURE[rule] not in json.dumps(left.value)
    assert mask_secrets(left.value) == MaskedValue(left.value)


@pytest.mark.parametrize(
    ("value", "left"),
    [
        (f"use {TOKEN}, please", "use (hidden: github-pat), please"),
        (f"é {TOKEN} ö\ud800 {TOKEN}é", "é (hidden: github-pat) ö\ud800 (hidden: github-pat)é"),
        ({"url": f"https://a.org/?t={TOKEN}&x=1"}, {"url": "https://a.org/?t=(hidden: github-pat)&x=1"}),
        ({"a": [1, None, {"b": TOKEN}], "c": "d"}, {"a": [1, None, {"b": "(hidden: github-pat)"}], "c": "d"}),
        ({TOKEN: True}, {"(hidden: github-pat)": True}),
        ({"d": f"é {quote('ü ' + TOKEN)} %"}, {"d": "é %C3%BC%20(hidden: github-pat) %"}),
        ({"d": f"a\\n%41{TOKEN[:9]}%{ord(TOKEN[9]):02x}{TOKEN[10:]}\\n"}, {"d": "a\\n%41(hidden: github-pat)\\n"}),
        ({"d": f"see {b64('xx ' + TOKEN)}; end"}, {"d": "see (hidden: github-pat); end"}),
        ({"d": quote(b64("xx " + TOKEN + "??")) + "!"}, {"d": "(hidden: github-pat)!"}),
    ],
    ids=str,
)
def test_the_rest_stays_as_it_was(value: object, left: object) -> None:
    assert mask_secrets(value).value == left


def test_the_same_name_twice_stays_two() -> None:
    left = mask_secrets({TOKEN: 1, "ghp_" + some(36): 2, "(hidden: github-pat) 2": 3, "(hidden: github-pat)": 4}).value
    assert sorted(left.values()) == [1, 2, 3, 4]
    assert all(name.startswith("(hidden: github-pat)") for name in left)


@pytest.mark.parametrize(
    "value",
    [
        {"lines": SPLIT},
        {"lines": [["x", SPLIT[0]], SPLIT[1], SPLIT[2], "y"]},
        {SPLIT[0] + "\n" + SPLIT[1][:200]: SPLIT[1][200:], SPLIT[2]: 1},
    ],
    ids=["items", "nested", "name and value"],
)
def test_what_is_one_secret_together_is_taken_out_of_every_text(value: object) -> None:
    assert find_secrets(value).sure == ("private-key",)
    left = mask_secrets(value)
    assert find_secrets(left.value).sure == ()
    written = json.dumps(left.value)
    assert SPLIT[1][:40] not in written
    assert SPLIT[1][-40:] not in written


def test_a_secret_that_goes_by_its_name_is_taken_out_from_behind_it_with_the_doubtful() -> None:
    value = {"sonar_token": some(40).lower(), "sonar_tokens": ["x", some(40).lower()], "other": JWT}
    assert mask_secrets(value).value is value
    left = mask_secrets(value, maybe=True)
    assert left.value == {
        "sonar_token": "(hidden: sonar-api-token)",
        "sonar_tokens": ["x", "(hidden: sonar-api-token)"],
        "other": "(hidden: jwt)",
    }
    assert find_secrets(left.value) == NOTHING


@pytest.mark.parametrize("value", HARMLESS, ids=lambda value: str(value)[:30])
def test_what_is_harmless_is_the_same_object(value: object) -> None:
    assert mask_secrets(value, spellings(["something else"])).value is value


def test_more_than_a_search_looks_at_is_taken_out() -> None:
    value = ["ghp_" + "x" * 36] * 150 + ["ghp_" + some(36) for _ in range(150)]
    left = mask_secrets(value)
    assert left.value == ["ghp_" + "x" * 36] * 150 + ["(hidden: github-pat)"] * 150
    assert left.count == 150


@pytest.mark.parametrize(
    "written",
    [
        PLAIN,
        f"Bearer {PLAIN}!",
        quote(PLAIN, safe=""),
        "".join(f"%{byte:02X}" for byte in PLAIN.encode()),
        json.dumps(PLAIN),
        json.dumps({"x": PLAIN}, ensure_ascii=False),
        json.dumps(json.dumps({"x": PLAIN}, ensure_ascii=False), ensure_ascii=False),
        b64(PLAIN),
        base64.urlsafe_b64encode(PLAIN.encode()).decode(),
        b64("user:" + PLAIN),
        b64(b64("user:" + PLAIN) + " and more"),
        PLAIN.encode().hex(),
        PLAIN.encode().hex().upper(),
    ],
)
def test_a_known_secret_is_taken_out_as_it_is_usually_written(written: str) -> None:
    known = spellings([PLAIN])
    left = mask_secrets({"text": f"it is {written} there", written: 1}, known)
    assert left.rules == ()
    assert left.count >= 2
    for shape in (PLAIN, PLAIN.encode().hex(), b64(PLAIN).rstrip("="), PLAIN[4:]):
        assert shape not in json.dumps(left.value, ensure_ascii=False)
    assert mask_secrets(left.value, known).value is left.value


def test_a_known_secret_that_is_a_word_of_the_constants_does_not_undo_them() -> None:
    known = spellings(["github-pat", "hidden"])
    left = mask_secrets([TOKEN, "password=hidden", "(hidden: my github-pat)"], known)
    assert left.value == ["(hidden: github-pat)", f"password={HIDDEN}", f"({HIDDEN}: my {HIDDEN})"]
    assert mask_secrets(left.value, known).value is left.value


def test_no_constant_is_found_itself() -> None:
    every = [HIDDEN, *(f"(hidden: {rule.id})" for rule in rules())]
    assert find_secrets({text: text for text in every}) == NOTHING


def test_where_places_are_not_enough_all_goes() -> None:
    """What is known here is what stands between texts, and in none of them."""
    left = mask_secrets({"a": "b", "c": ["d", 1]}, (b'="',))
    assert left.value == {HIDDEN: HIDDEN, f"{HIDDEN} 2": [HIDDEN, 1]}


def test_a_long_name_before_many_items_is_not_said_each_time() -> None:
    value = {"n" * 100_000 + "sonar_token": [0, "", "short", [0] * 20] * 1000 + [some(40).lower()]}
    left = mask_secrets(value, maybe=True)
    assert left.rules == ("sonar-api-token",)
    assert left.value[next(iter(value))][-1] == "(hidden: sonar-api-token)"


@st.composite
def planted(draw: st.DrawFn) -> object:
    """Anything, with secrets at any places in any wrapping."""
    texts = st.lists(
        st.sampled_from([*SURE.values(), *(b64(each) for each in SURE.values()), JWT, *SPLIT, "\\n", "%41", '\\"', "="])
        | st.sampled_from([quote(TOKEN), json.dumps({TOKEN: [TOKEN]}), b64(f"\x00{TOKEN}"), '="', "\n", "sonar_token"])
        | st.text(max_size=8),
        max_size=6,
    ).map("".join)
    return draw(
        st.recursive(
            texts | st.none() | st.integers() | VALUES,
            lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
            max_leaves=12,
        )
    )


@given(planted(), st.booleans(), st.booleans())
def test_nothing_is_found_afterwards_and_once_is_enough(value: object, maybe: bool, knows: bool) -> None:
    known = spellings([PLAIN, TOKEN[4:]]) if knows else ()
    left = mask_secrets(value, known, maybe=maybe)
    found = find_secrets(left.value)
    assert found.sure == ()
    assert not (maybe and found.maybe)
    again = mask_secrets(left.value, known, maybe=maybe)
    assert again.value is left.value
    assert again.count == 0
    if find_secrets(value) == NOTHING and not knows:
        assert left.value is value


@given(VALUES, st.sampled_from(sorted(SURE)))
def test_what_is_beside_a_secret_stays(value: object, rule: str) -> None:
    left = mask_secrets({"other": value, "here": [SURE[rule]]}).value
    if find_secrets({"other": value}) == NOTHING:
        assert left["other"] == value
        assert SURE[rule][-40:] not in str(left["here"])
        assert str(left["here"]).endswith(f"(hidden: {rule})']")
