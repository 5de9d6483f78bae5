"""No detector is forgotten, and no rule that one of them has."""

import pkgutil
from importlib import import_module

import pytest

from mcpguard.inspection import detectors
from mcpguard.inspection.detectors.detector import Detector
from mcpguard.inspection.detectors.detector_table import (
    DECODED_REPLY_DETECTOR,
    REPLY_DETECTORS,
    REPLY_WEIGHTS,
    USES,
    DetectorUse,
)
from mcpguard.inspection.detectors.orders import promotion, secrecy


def test_every_detector_that_there_is_stands_in_the_table_once() -> None:
    names = [module.name for module in pkgutil.walk_packages(detectors.__path__, f"{detectors.__name__}.")]
    modules = [import_module(name) for name in names]
    written = [module.DETECTOR for module in modules if isinstance(getattr(module, "DETECTOR", None), Detector)]
    assert len(written) > 20
    assert [sum(use.detector is detector for use in USES) for detector in written] == [1] * len(written)


def test_each_rule_that_may_be_found_in_a_reply_has_a_weight() -> None:
    used = (*REPLY_DETECTORS, DECODED_REPLY_DETECTOR)
    assert REPLY_WEIGHTS.keys() == {rule.id for detector in used for rule in detector.rules}


def test_a_detector_cannot_be_used_on_replies_with_a_rule_that_has_no_weight() -> None:
    DetectorUse(secrecy.DETECTOR, on_replies=True)
    with pytest.raises(ValueError, match=r"promotion\.best"):
        DetectorUse(promotion.DETECTOR, on_replies=True)
