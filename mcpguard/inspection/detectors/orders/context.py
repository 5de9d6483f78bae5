"""Detects parameters that request what a tool does not need: the conversation, prompts, side notes (T2, T13).

A tool that itself puts questions to a model takes a system prompt for that model, beside a prompt or its settings: such
a parameter counts little.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from mcpguard.domain.findings import Finding
from mcpguard.inspection.detectors.detector import Detector, PhraseRules, Surroundings, as_weak_finding, phrases
from mcpguard.inspection.detectors.orders.data_requests import CHATS, VAULTS
from mcpguard.inspection.texts.texts import DefinitionTexts, Text, TextRole

_SAID: Final = phrases(
    "context.asked",
    "ANY|PREVIOUS 4 CONVERSATION",
    "SYSTEM_PROMPT",
    "CONVERSATION 6 FOUND 3 PARAMETER",
    topics=CHATS,
)
_FOR_A_MODEL: Final = frozenset({"prompt", "temperature", "top_p", "topP", "max_tokens", "maxTokens"})
"""Parameters of tools that put questions to a model themselves."""
_ADDRESSING: Final = frozenset({"you", "your", "yours"})
"""Words to the model that reads a definition: its own system prompt is not that of the tool's model."""
_TALKS: Final = frozenset({"CONVERSATION", "TRANSCRIPT", "TALK"})
_WHOLE: Final = phrases(
    "context.whole",
    "WHOLE 2 HELD",
    "WHOLE 2 INNER",
    "STRONG_INNER",
    "ENV_DUMP",
    "WHOLE 3 MESSAGES 3 USER 2 MODEL",
    "GIVE 4 WHOLE 4 MESSAGES 2 HERE",
    "~9 GIVE MESSAGES VERBATIM",
    "~9 WHOLE TALK VERBATIM",
    "MESSAGES 4 VERBATIM",
    "RESULTS_ELSEWHERE",
    "WHOLE 1 TALK",
    "RESULTS 2 KEPT_DATA",
    "SECRETS 5 HELD",
    "CREDENTIALS 5 HELD",
    "PERSONAL_DATA 5 HELD",
    topics=CHATS,
)
_MODEL: Final = phrases("context.model", "MODEL_NAME")
_NAMES: Final = phrases(
    "context.name",
    "SYSTEM_PROMPT",
    "ASIDE",
    "SECRET_FILE|KEY_FILES",
    "TRANSCRIPT",
    "ANY 1 CONVERSATION",
    "ANY 0 SECRETS",
    "SECRETS|CREDENTIALS 1 HELD",
    "RESULTS 2 FOUND 1 READ",
    "RESULTS_ELSEWHERE",
    "INNER",
    topics=CHATS + VAULTS,
)
_ORDERS: Final = phrases(
    "context.order",
    "READ 3 SECRETS|KEY_FILES",
    "MUST 2 CALL|SEND|READ",
    "BEFORE 2 CALL 2 TOOL",
    "IGNORE 2 PREVIOUS 2 INSTRUCTIONS",
)
_IN_KEYS: Final = PhraseRules(_NAMES, _ORDERS, _MODEL)
_IN_PARAMETERS: Final = PhraseRules(_SAID, _WHOLE, _MODEL)
_ANYWHERE: Final = PhraseRules(_MODEL)
_LONG: Final = 48
"""Characters of a name that is a sentence."""


def _find(subject: DefinitionTexts, _surroundings: Surroundings) -> Iterator[Finding]:
    for text in subject.texts:
        if text.role is TextRole.KEY and "/properties/" in text.path:
            yield from _of(subject, text, _IN_KEYS)
        elif text.role is TextRole.VALUE and text.path.startswith("/inputSchema/") and _is_said(text):
            yield from _of(subject, text, _IN_PARAMETERS)
        elif text.role is TextRole.VALUE:  # arguments are often described in the tool's own description
            yield from _of(subject, text, _ANYWHERE)


def _is_said(text: Text) -> bool:
    """Tell whether the text is a sentence, and not only a value."""
    return text.path.endswith("/description") or text.raw.count(" ") > 1


def _of(subject: DefinitionTexts, text: Text, rules: PhraseRules) -> Iterator[Finding]:
    for each in rules.breakable_by(text.meanings):
        if finding := each.find_for_tool(subject, text):
            yield as_weak_finding(finding) if _is_for_its_model(subject, text) else finding


def _is_for_its_model(subject: DefinitionTexts, text: Text) -> bool:
    """Tell whether a text is about the system prompt for the tool's own model, and about nothing else."""
    if "SYSTEM_PROMPT" not in text.hits or not _ADDRESSING.isdisjoint(text.tokens.words):
        return False
    return _TALKS.isdisjoint(text.hits) and _asks_a_model(subject.definition)


def _asks_a_model(definition: Mapping[str, object]) -> bool:
    schema = definition.get("inputSchema")
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    return isinstance(properties, Mapping) and not _FOR_A_MODEL.isdisjoint(properties)


DETECTOR: Final = Detector((_NAMES.rule, _ORDERS.rule, _SAID.rule, _WHOLE.rule, _MODEL.rule), _find)
