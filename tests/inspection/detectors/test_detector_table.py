"""No detector and no rule is forgotten, and the titles of findings can be told apart."""

import pkgutil
import re
from importlib import import_module

import pytest

from mcpguard.inspection import detectors
from mcpguard.inspection.definitions import launches
from mcpguard.inspection.definitions.inspect import all_rules
from mcpguard.inspection.detectors.detector import Detector
from mcpguard.inspection.detectors.detector_table import (
    DECODED_REPLY_DETECTOR,
    REPLY_DETECTORS,
    REPLY_WEIGHTS,
    USES,
    DetectorUse,
)
from mcpguard.inspection.detectors.orders import secrecy


def test_every_detector_that_there_is_stands_in_the_table_once() -> None:
    names = [module.name for module in pkgutil.walk_packages(detectors.__path__, f"{detectors.__name__}.")]
    modules = [import_module(name) for name in names]
    written = [module.DETECTOR for module in modules if isinstance(getattr(module, "DETECTOR", None), Detector)]
    assert len(written) > 20
    assert [sum(use.detector is detector for use in USES) for detector in written] == [1] * len(written)


def test_each_rule_that_may_be_found_in_a_reply_has_a_weight() -> None:
    used = (*REPLY_DETECTORS, DECODED_REPLY_DETECTOR)
    assert REPLY_WEIGHTS.keys() == {rule.id for detector in used for rule in detector.rules}


def test_a_detector_cannot_be_used_on_replies_with_a_rule_forgotten() -> None:
    weights = {rule.id: 0.3 for rule in secrecy.DETECTOR.rules}
    DetectorUse(secrecy.DETECTOR, weights)
    with pytest.raises(ValueError, match=r"secrecy\.order"):
        DetectorUse(secrecy.DETECTOR, {rule: weight for rule, weight in weights.items() if rule != "secrecy.order"})
    with pytest.raises(ValueError, match=r"secrecy\.other"):
        DetectorUse(secrecy.DETECTOR, weights | {"secrecy.other": 0.3})


def test_titles_are_unique_and_begin_with_what_is_done() -> None:
    every = {rule.id: rule for detector in REPLY_DETECTORS for rule in detector.rules}
    every |= {rule.id: rule for rule in (*all_rules(), *launches.RULES)}
    titles = [rule.title for rule in every.values()]
    assert len(titles) == len(set(titles)) > 100
    assert [title for title in titles if not re.match(r"(?!Its?\b)[A-Z][a-z]+s\b", title)] == []
