"""The only list of detectors, and where each is applied.

Rules kept here:
1. To add a detector, add a small file beside this one, its rules to the table of rules, and a row to this table.
2. A detector is applied to replies only if the table of rules has a weight for each of its rules there. In a
   definition, a rule counts with its confidence. A reply is data, and only several signs together mean anything, so a
   sign weighs less there. A rule that does not count in replies has weight 0, so that no rule is forgotten.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from mcpguard.inspection.detectors import (
    commands,
    contradiction,
    encoded_text,
    headers,
    hidden_text,
    lookalike,
    markup,
    mixed_scripts,
    padding,
    resemblance,
    stuffing,
    turns,
    unusable_schemas,
)
from mcpguard.inspection.detectors.detector import Detector
from mcpguard.inspection.detectors.orders import (
    call_rewrites,
    concealment,
    consent,
    context,
    credential_requests,
    data_requests,
    delayed_change,
    exfiltration,
    overrides,
    pressure,
    priority,
    promotion,
    reply_orders,
    safeguards,
    secrecy,
    secret_files,
    steering,
    user_turns,
)


@dataclass(frozen=True, slots=True)
class DetectorUse:
    """A detector with what it is used on. `on_decoded`: it also looks at what the encoded parts of a text decode to."""

    detector: Detector
    on_definitions: bool = True
    on_replies: bool = False
    on_decoded: bool = False

    def __post_init__(self) -> None:
        if self.on_replies and (missing := [rule.id for rule in self.detector.rules if rule.in_replies is None]):
            raise ValueError(f"rules without a weight in replies: {', '.join(missing)}")


_BOTH: Final = tuple(
    DetectorUse(detector, on_replies=True, on_decoded=True)
    for detector in (
        secrecy.DETECTOR,
        overrides.DETECTOR,
        turns.DETECTOR,
        user_turns.DETECTOR,
        secret_files.DETECTOR,
        exfiltration.DETECTOR,
        priority.DETECTOR,
        call_rewrites.DETECTOR,
        steering.DETECTOR,
        consent.DETECTOR,
        concealment.DETECTOR,
        data_requests.DETECTOR,
        safeguards.DETECTOR,
    )
)
_TEXT: Final = (
    *_BOTH,
    DetectorUse(credential_requests.DETECTOR, on_decoded=True),
    DetectorUse(promotion.DETECTOR, on_decoded=True),
    DetectorUse(pressure.DETECTOR, on_decoded=True),
    DetectorUse(delayed_change.DETECTOR, on_replies=True, on_decoded=True),
    DetectorUse(commands.DETECTOR, on_decoded=True),
    # A definition is written for a model, and may well address it.
    DetectorUse(reply_orders.DETECTOR, on_definitions=False, on_replies=True, on_decoded=True),
)
"""What looks for orders and commands, in a text as it stands and in what it decodes to."""


def _decoding(uses: Iterable[DetectorUse]) -> Detector:
    """The detector of encoded text needs the others. On a definition and on a reply those are not the same ones."""
    return encoded_text.decoding_detector(tuple(use.detector for use in uses if use.on_decoded))


USES: Final = (
    DetectorUse(hidden_text.DETECTOR),
    DetectorUse(mixed_scripts.DETECTOR, on_replies=True),
    DetectorUse(lookalike.DETECTOR),
    DetectorUse(markup.DETECTOR, on_replies=True),
    *_TEXT,
    DetectorUse(_decoding(use for use in _TEXT if use.on_definitions)),
    DetectorUse(context.DETECTOR),
    DetectorUse(contradiction.DETECTOR),
    DetectorUse(headers.DETECTOR),
    DetectorUse(padding.DETECTOR),
    DetectorUse(resemblance.DETECTOR),
    DetectorUse(stuffing.DETECTOR),
    DetectorUse(unusable_schemas.DETECTOR),
)
DEFINITION_DETECTORS: Final = tuple(use.detector for use in USES if use.on_definitions)
REPLY_DETECTORS: Final = tuple(use.detector for use in USES if use.on_replies)
"""What looks at a reply as it stands."""
DECODED_REPLY_DETECTOR: Final = _decoding(use for use in _TEXT if use.on_replies)
"""What looks at the codes in a reply, which are cut out of it first."""
REPLY_WEIGHTS: Final[Mapping[str, float]] = {
    rule.id: rule.in_replies
    for detector in (*REPLY_DETECTORS, DECODED_REPLY_DETECTOR)
    for rule in detector.rules
    if rule.in_replies is not None
}
"""What each rule weighs in a reply; 0 for one that does not count."""
