"""What is declared: never less than will happen, and of the form it must have; and which variant to use."""

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpguard.domain.calls.calls import Sensitivity
from mcpguard.domain.calls.objections import Objection
from mcpguard.domain.capabilities import Effect
from mcpguard.domain.reasons import Reason
from mcpguard.policy.intents import BY_HARM, LONGEST_REASON, call_variant, is_understated, read_intent
from mcpguard.policy.rules.intent import objection
from mcpguard.policy.situation import Situation
from tests.policy.situations import FINE, SITUATIONS, declared, with_effect

READ, WRITE, DESTRUCTIVE = BY_HARM
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.sampled_from([*Effect, *Sensitivity]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)
FIELDS = st.sampled_from(["operation_type", "data_sensitivity", "reason", "more"])
GIVEN = st.fixed_dictionaries(
    {},
    optional={
        "intent": st.dictionaries(FIELDS, VALUES, max_size=4) | VALUES,
        "intent_operation_type": VALUES,
        "intent_data_sensitivity": VALUES,
        "intent_reason": VALUES,
    },
)


def reason(found: Objection | None) -> Reason | None:
    return found.reason if found else None


@pytest.mark.parametrize(("operation", "effect"), [*product(Effect, Effect)])
def test_less_than_will_happen_is_refused_and_more_is_not(operation: Effect, effect: Effect) -> None:
    found = objection(replace(with_effect(effect), stated=declared(operation)))
    less = BY_HARM.index(operation) < BY_HARM.index(effect)
    assert is_understated(operation, effect) is less
    assert reason(found) is (Reason.INTENT_UNDERSTATED if less else None)
    if found is not None:
        assert found.detail.fields == {"effect": effect.value, "call_with": f"call_tool_{effect.value}"}


@given(SITUATIONS)
def test_the_variant_that_is_told_is_the_least_one_that_is_accepted(situation: Situation) -> None:
    found = objection(situation)
    if found is None:
        return
    assert situation.effect is not None
    accepted = [each for each in BY_HARM if objection(replace(situation, stated=declared(each))) is None]
    assert found.detail.call_with == call_variant(accepted[0]) == call_variant(situation.effect)


@pytest.mark.parametrize(("effect", "must"), [*product(Effect, [True, False])])
def test_what_is_implied_is_the_effect_unless_the_caller_must_declare_more_than_to_read(
    effect: Effect, *, must: bool
) -> None:
    fine = with_effect(effect)
    situation = replace(fine, caller=replace(fine.caller, must_declare=must))
    refused = must and effect is not READ
    assert reason(objection(situation)) is (Reason.INTENT_UNDECLARED if refused else None)
    assert objection(replace(situation, stated=declared(effect))) is None


@given(SITUATIONS)
def test_what_is_wrong_with_a_statement_is_said_whatever_it_states(situation: Situation) -> None:
    if situation.effect is not None and situation.stated is not None and situation.stated.wrong is not None:
        assert reason(objection(situation)) is situation.stated.wrong


@pytest.mark.parametrize("variant", Effect)
@pytest.mark.parametrize(
    "form",
    [
        lambda said: {"intent": said},
        lambda said: {f"intent_{name}": value for name, value in said.items()},
        lambda said: {"intent": said, "intent_reason": said["reason"]},
    ],
)
def test_both_forms_say_the_same(variant: Effect, form: object) -> None:
    assert callable(form)
    read = read_intent(
        variant, form({"operation_type": variant.value, "data_sensitivity": "private", "reason": "to look"})
    )
    assert read.wrong is None
    intent = read.intent
    assert (intent.operation, intent.declared) == (variant, True)
    assert (intent.sensitivity, intent.reason) == (Sensitivity.PRIVATE, "to look")


def test_nothing_declared_beside_the_variant_is_the_variant() -> None:
    for variant in Effect:
        for given_ in list[dict[str, object]]([{}, {"intent": {}}, {"name": "web:echo", "arguments": {}}]):
            read = read_intent(variant, given_)
            assert (read.wrong, read.intent.operation, read.intent.sensitivity) == (None, variant, Sensitivity.UNKNOWN)


@pytest.mark.parametrize(("variant", "operation"), [*product(Effect, Effect)])
def test_two_keys_are_equal_or_the_call_is_refused(variant: Effect, operation: Effect) -> None:
    read = read_intent(variant, {"intent": {"operation_type": operation.value}})
    assert read.wrong is (None if variant is operation else Reason.INTENT_MISMATCH)


@pytest.mark.parametrize(
    "given_",
    [
        {"intent": "read"},
        {"intent": None},
        {"intent": ["read"]},
        {"intent": {"operation_type": "READ"}},
        {"intent": {"operation_type": None}},
        {"intent": {"operation_type": 1}},
        {"intent": {"operation_type": ["read"]}},
        {"intent": {"data_sensitivity": "secret"}},
        {"intent": {"data_sensitivity": []}},
        {"intent": {"reason": 7}},
        {"intent": {"reason": None}},
        {"intent": {"reason": "x" * (LONGEST_REASON + 1)}},
        {"intent": {"purpose": "to look"}},
        {"intent_reason": {}},
        {"intent_data_sensitivity": "Public"},
        {"intent": {"reason": "this"}, "intent_reason": "that"},
    ],
)
def test_what_has_another_form_is_invalid(given_: dict[str, object]) -> None:
    read = read_intent(READ, given_)
    assert read.wrong is Reason.INTENT_INVALID
    assert reason(objection(replace(FINE, stated=read))) is Reason.INTENT_INVALID


def test_a_reason_may_be_as_long_as_it_may_be() -> None:
    assert read_intent(READ, {"intent_reason": "x" * LONGEST_REASON}).wrong is None


@given(st.sampled_from(Effect), GIVEN)
def test_reading_never_fails_and_never_makes_of_a_call_what_it_is_not(
    variant: Effect, given_: dict[str, object]
) -> None:
    read = read_intent(variant, given_)
    assert read.intent.operation is variant
    assert read.intent.declared
    assert len(read.intent.reason) <= LONGEST_REASON
    assert read.wrong in (None, Reason.INTENT_INVALID, Reason.INTENT_MISMATCH)
