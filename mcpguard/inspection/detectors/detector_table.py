"""The only list of detectors: where each is applied, and what each of its rules weighs in a reply.

Rules kept here:
1. To add a detector, add a small file beside this one and a row to this table.
2. A detector that is applied to replies has a weight for each of its rules. In a definition, a rule counts with its
   confidence. A reply is data, and only several signs together mean anything, so a sign weighs less there. A rule that
   does not count in replies has weight 0, so that no rule is forgotten.
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
)


@dataclass(frozen=True, slots=True)
class DetectorUse:
    """A detector with what it is used on.

    `weights`: what each of its rules weighs in a reply; None where it is not used on replies. `on_decoded`: whether it
    also looks at what the encoded parts of a text decode to.
    """

    detector: Detector
    weights: Mapping[str, float] | None = None
    on_definitions: bool = True
    on_decoded: bool = False

    def __post_init__(self) -> None:
        rules = {rule.id for rule in self.detector.rules}
        if self.weights is not None and self.weights.keys() != rules:
            raise ValueError(f"rules without a weight, or weights without a rule: {rules ^ self.weights.keys()}")


_TEXT: Final = (
    DetectorUse(
        secrecy.DETECTOR, {"secrecy.order": 0.45, "secrecy.silence": 0.3, "secrecy.stealth": 0.2}, on_decoded=True
    ),
    DetectorUse(
        overrides.DETECTOR,
        {
            "override.instructions": 0.4,
            "override.request": 0.4,
            "override.persona": 0.35,
            "override.lasting": 0.2,
            "override.prompt": 0.25,
            "override.obey": 0.4,
        },
        on_decoded=True,
    ),
    DetectorUse(turns.DETECTOR, {"turn.template": 0.3, "turn.tag": 0.3, "turn.label": 0.25}, on_decoded=True),
    DetectorUse(
        secret_files.DETECTOR,
        {"sensitive.pass": 0.45, "sensitive.read": 0.2, "sensitive.path": 0, "sensitive.secrets": 0.3},
        on_decoded=True,
    ),
    DetectorUse(
        exfiltration.DETECTOR,
        {
            "exfiltration.conversation": 0.45,
            "exfiltration.private": 0.3,
            "exfiltration.outside": 0.3,
            "exfiltration.place": 0,
            "exfiltration.copy": 0.2,
        },
        on_decoded=True,
    ),
    DetectorUse(
        priority.DETECTOR,
        {
            "priority.before": 0.25,
            "priority.unless": 0,
            "priority.whatever": 0,
            "priority.instead": 0,
            "priority.always": 0,
        },
        on_decoded=True,
    ),
    DetectorUse(
        call_rewrites.DETECTOR,
        {"rewriting.recipient": 0.3, "rewriting.calls": 0.3, "rewriting.chosen": 0.3},
        on_decoded=True,
    ),
    DetectorUse(
        steering.DETECTOR,
        {
            "steering.foreign": 0.15,
            "steering.calls": 0.15,
            "steering.mention": 0.1,
            "steering.other": 0,
            "steering.forces": 0,
            "steering.values": 0.3,
            "steering.replaces": 0,
            "steering.forbids": 0,
        },
        on_decoded=True,
    ),
    DetectorUse(
        consent.DETECTOR,
        {"consent.skipped": 0.25, "consent.user": 0.2, "consent.none": 0.3, "consent.behind": 0.4},
        on_decoded=True,
    ),
    DetectorUse(
        concealment.DETECTOR,
        {"quiet.order": 0.25, "quiet.display": 0, "quiet.traces": 0.3, "quiet.pretence": 0.3},
        on_decoded=True,
    ),
    DetectorUse(
        data_requests.DETECTOR,
        {
            "handing.talk": 0.3,
            "handing.inner": 0.2,
            "handing.others": 0.3,
            "handing.kept": 0.25,
            "handing.person": 0.25,
            "handing.held": 0.3,
            "handing.called": 0,
            "handing.secrets": 0.35,
        },
        on_decoded=True,
    ),
    DetectorUse(
        safeguards.DETECTOR, {"safeguard.off": 0.35, "safeguard.agreed": 0.4, "safeguard.trust": 0.4}, on_decoded=True
    ),
    DetectorUse(credential_requests.DETECTOR, on_decoded=True),
    DetectorUse(promotion.DETECTOR, on_decoded=True),
    DetectorUse(pressure.DETECTOR, on_decoded=True),
    DetectorUse(delayed_change.DETECTOR, {"delayed.review": 0.2}, on_decoded=True),
    DetectorUse(commands.DETECTOR, on_decoded=True),
    DetectorUse(
        reply_orders.DETECTOR,
        {
            "speaking.addressed": 0.3,
            "speaking.all": 0.2,
            "speaking.agreed": 0.4,
            "speaking.memory": 0.35,
            "steering.next": 0.4,
        },
        on_definitions=False,  # a definition is written for a model, and may well address it
        on_decoded=True,
    ),
)
"""What looks for orders and commands, in a text as it stands and in what it decodes to."""
_ENCODED_WEIGHTS: Final = {"encoded.order": 0.6, "encoded.text": 0.0}


def _decoding(uses: Iterable[DetectorUse], *, on_definitions: bool) -> DetectorUse:
    """The detector of encoded text needs the others. On a definition and on a reply those are not the same ones."""
    detector = encoded_text.decoding_detector(tuple(use.detector for use in uses if use.on_decoded))
    return DetectorUse(detector, None if on_definitions else _ENCODED_WEIGHTS, on_definitions=on_definitions)


USES: Final = (
    DetectorUse(hidden_text.DETECTOR),
    DetectorUse(mixed_scripts.DETECTOR, {"mixed.word": 0.5, "mixed.name": 0, "mixed.passes": 0, "mixed.styled": 0}),
    DetectorUse(lookalike.DETECTOR),
    DetectorUse(markup.DETECTOR, {"markup.comment": 0.4, "markup.style": 0, "markup.image": 0.5}),
    *_TEXT,
    _decoding((use for use in _TEXT if use.on_definitions), on_definitions=True),
    DetectorUse(context.DETECTOR),
    DetectorUse(contradiction.DETECTOR),
    DetectorUse(headers.DETECTOR),
    DetectorUse(padding.DETECTOR),
    DetectorUse(unusable_schemas.DETECTOR),
)
DEFINITION_DETECTORS: Final = tuple(use.detector for use in USES if use.on_definitions)
REPLY_DETECTORS: Final = tuple(use.detector for use in USES if use.weights is not None)
"""What looks at a reply as it stands."""
DECODED_REPLY_DETECTOR: Final = _decoding(
    (use for use in _TEXT if use.weights is not None), on_definitions=False
).detector
"""What looks at the codes in a reply, which are cut out of it first."""
REPLY_WEIGHTS: Final[Mapping[str, float]] = _ENCODED_WEIGHTS | {
    rule: weight for use in USES if use.weights is not None for rule, weight in use.weights.items()
}
"""What each rule weighs in a reply; 0 for one that does not count."""
