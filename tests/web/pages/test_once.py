"""Forms that are done once."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpguard.web.forms import Misshapen, SentForm
from mcpguard.web.pages.base import single_use_forms
from mcpguard.web.pages.base.single_use_forms import FIELD, SingleUseForms


def is_used(at: SingleUseForms, number: str) -> bool:
    try:
        at.use(SentForm([(FIELD, number)]))
    except Misshapen:
        return False
    return True


@given(st.lists(st.sampled_from("abcdefgh"), max_size=30))
def test_however_often_a_form_is_sent_it_is_done_once(sent: list[str]) -> None:
    at = SingleUseForms()
    done = Counter(number for number in sent if is_used(at, number))
    assert done == Counter(set(sent))


@pytest.mark.parametrize("number", ["", "x" * 65])
def test_a_form_without_a_number_is_none(number: str) -> None:
    assert not is_used(SingleUseForms(), number)


def test_no_two_forms_have_the_same_number() -> None:
    at = SingleUseForms()
    assert len({at.new_number() for _ in range(100)}) == 100


def test_what_is_kept_of_them_is_bounded_and_the_newest_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(single_use_forms, "MOST", 3)
    at = SingleUseForms()
    for number in "abcd":
        assert is_used(at, number)
    assert len(at._sent) == 3
    assert not is_used(at, "d")
    assert not is_used(at, "b")
