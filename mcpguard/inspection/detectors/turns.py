"""Detects text that imitates a turn of the conversation or a system message (T1)."""

import re
from collections.abc import Iterator
from typing import Final

from mcpguard.domain.findings import Finding
from mcpguard.inspection.detectors.detector import Detector, Surroundings
from mcpguard.inspection.rules.rule_table import RULES, DetectorRule
from mcpguard.inspection.texts.texts import DefinitionTexts, Text, TextRole
from mcpguard.text.linear import AnyOf

_TURN: Final = RULES["turn.template"]
_TAG: Final = RULES["turn.tag"]
_LABEL: Final = RULES["turn.label"]
_NOTE: Final = RULES["turn.note"]
_AUTHORITY: Final = RULES["turn.authority"]
_MARKS: Final = (
    "<|im_start|>", "<|im_end|>", "<|system|>", "<|user|>", "<|assistant|>", "<|endoftext|>", "<|eot_id|>",
    "<|start_header_id|>", "[inst]", "[/inst]", "<<sys>>", "<</sys>>", "<start_of_turn>", "<end_of_turn>", "[system]",
    "[/system]", "\n\nhuman:", "\n\nassistant:", "\nsystem:", "\nuser:", "<system>", "</system>", "<|",
    "[system message]", "</tool_description>", "</description>", "</tools>", "<function_calls>", "<tool_call>",
    "[end of tool", "end of description]", "[end of description", "---end", "### instruction", "### system",
    "### response:", "###instruction", "###system", "\nhuman:", "end of tool description",
    "end of the tool description", "</instructions>", "</tool>", "---begin", "```system", '"role": "system"',
    '"role":"system"',
)  # fmt: skip
_SPECIAL_WORDS: Final = """
    important critical secret hidden system instruction instructions sys admin override urgent priority
    mandatory internal confidential prompt directive directives policy rule rules security note_to_ai assistant
    ai agent llm developer invisible private restricted warning attention required wichtig anweisung
    system_anweisung importante instrucciones instrucción critique consigne 重要 指令 系统 隐藏 机密 важно
    инструкция система секрет
"""
SPECIAL: Final = frozenset(_SPECIAL_WORDS.split())
_TAGGED: Final = re.compile(r"[<\[{(]{1,3}[ ]?[/!#]?[ ]?([^\W\d][\w-]{1,24}+)")
_LABELS: Final = (
    "system:", "system message", "system notice", "system instruction", "system override", "system note",
    "system update", "system alert", "system policy", "assistant instructions",
    "message to assistant", "instructions for ai",
    "instruction for ai", "instructions to the ai", "instructions for the ai", "instructions for the assistant",
    "instructions for the model", "instruction to the assistant", "hidden instruction", "hidden step", "secret step",
    "for ai only", "for the ai only", "for llm only", "for llms only", "for ai agents only", "for the model only",
    "for the assistant only", "for agents only", "ai-only", "llm-only", "@assistant", "@agent ", "@agent:", "@ai ",
    "@ai:", "@llm", "@model", "hidden directive", "hidden command", "secret instruction", "attention ai",
    "attention assistant", "attention llm", "attention model", "dear ai", "dear agent", "dear model", "dear llm",
    "end of documentation", "dear assistant", "ai agents must", "admin override", "admin message", "ai assistant:",
    "assistant:", "ai: ", "llm: ", "ai agent: ", "ai model: ", "user has agreed", "user has approved",
    "user has consented", "user already approved", "user has authorized", "user has authorised", "instruct the model",
    "instruct the assistant", "instruct the agent", "instruct the llm", "anweisung an die ki",
    "anweisung für den assistenten", "hinweis an den assistenten", "note à l'assistant",
    "instruction pour l'assistant", "nota para el asistente", "instrucciones para el asistente",
    "mensaje del sistema", "systemnachricht", "message système", "系统消息", "系统提示：", "给助手", "致助手",
    "系统：", "сообщение системы", "системное сообщение", "указание ассистенту", "инструкция для ассистента",
    "システム:", "システム：", "アシスタントへ",
)  # fmt: skip
_NOTES: Final = (
    "note to assistant",
    "note to the assistant",
    "note to ai",
    "note for ai",
    "note to the ai",
    "note for the ai",
    "note to llm",
    "note for llm",
    "note to the model",
    "note for the model",
)


WORDS: Final = (*_MARKS, *_LABELS, *_NOTES)
"""One of these is in every text with a finding of this detector, except for tags and offices."""
_ANY_WORD: Final = AnyOf(WORDS)
_MODELS: Final = frozenset({"ai", "llm"})
"""Words for a model that a list of parameters may have before a colon, where they name one of the tool's own."""
_HONEST_TAGS: Final = frozenset({"instructions", "rules", "rule", "policy"})
"""Words of tags that honest makers structure long texts by as well."""
_CONDITION: Final = re.compile(r"\b(?:once|if|when|after|until|unless|whether|before) (?:the )?$")
"""What stands before something that the user may do, and has not done."""
_ARTICLE: Final = re.compile(r"\b(?:an?|the|this|that|each|every|its|our) $")
"""What stands before a noun; who is spoken to has nothing before it."""
_WITHIN: Final = re.compile(r"\w[\w.:?&/-]*[/=.]\Z|://\w*:\Z")
"""What a placeholder within an address or a path stands after: `/data/<secret to fetch>`, `https://me:<secret>@host`."""
_ABOVE: Final = frozenset({"system", "hidden", "secret", "admin", "override", "assistant"})
"""Words of which one is enough in a tag of several words."""
_SHOWN: Final = re.compile(r"\b(?:such as|e\.g\.|for example|for instance|like|including)\b[^.\n]{0,40}+$")
_OFFICE: Final = re.compile(
    r"SYSTEM|ADMIN|COMPLIANCE|SECURITY|POLICY|DIRECTIVE|PROTOCOL|OVERRIDE|DEVELOPER|OPERATOR|LEGAL|REGULATORY"
    r"|ENTERPRISE|GOVERNANCE|PLATFORM"
)
_LABEL_END: Final = re.compile(r"[A-Z]{0,9}(?:[ _-][A-Z]{2,20}){0,3}[ ]?[\])*]{0,3}[ ]?[:\u2013\u2014]")
_COMMANDED: Final = 160
"""How many characters after a label a command may begin."""
_NEAR: Final = 60
"""How many characters before a mark may say that it is an example."""


def _find(subject: DefinitionTexts, _surroundings: Surroundings) -> Iterator[Finding]:
    for text in subject.texts:
        plain = text.raw.lower()
        known = _ANY_WORD.occur_in(plain)
        if "<" in plain or "[" in plain or "\n" in plain:
            if known:
                yield from _first(_TURN, _MARKS, text, plain)
            yield from _tags(text, plain)
        if known:
            own = {f"{key.raw}: " for key in subject.texts if key.role is TextRole.KEY and key.raw in _MODELS}
            yield from _first(_LABEL, tuple(each for each in _LABELS if each not in own), text, plain)
            yield from _first(_NOTE, _NOTES, text, plain)
        yield from _official(text)


def _first(rule: DetectorRule, marks: tuple[str, ...], text: Text, plain: str) -> Iterator[Finding]:
    """Yield the first mark that stands at the beginning of a word; `filesystem:` has none. One that means nothing where
    it stands hides no other: what follows is looked at as well.
    """
    if len(plain) != len(text.raw):
        plain = text.raw  # some letters have a lower case of two
    for mark in marks:
        at = plain.find(mark)
        if at >= 0 and _closes_what_was_opened(plain, at, mark):
            continue  # and so does each further one
        while at >= 0 and _means_nothing(plain, at, mark):
            at = plain.find(mark, at + len(mark))
        if at >= 0:
            yield rule.finding_at(text.evidence_at(at, at + len(mark)))
            return


def _means_nothing(plain: str, at: int, mark: str) -> bool:
    """Tell whether a mark is an example, or a part of a word or sentence."""
    return (
        _SHOWN.search(plain[max(0, at - _NEAR) : at]) is not None
        or _is_of(plain, at, mark)
        or (mark[0].isalpha() and at > 0 and (plain[at - 1].isalnum() or plain[at - 1] in "_-"))
    )


def _closes_what_was_opened(plain: str, at: int, mark: str) -> bool:
    """Tell whether the first closing tag has its opening one before it, and each further one may have its own."""
    opening = f"<{mark[2:]}"
    opened = mark.startswith("</") and plain.find(opening, 0, at) >= 0
    return opened and plain.count(mark) <= plain.count(opening)


def _is_of(plain: str, at: int, mark: str) -> bool:
    """Tell whether the mark stands within a sentence, as in "the system instructions of an assistant"."""
    before = plain[max(0, at - _NEAR) : at]
    if mark.startswith(("system", "ai", "llm", "instruction")):
        return before[-2:-1].isalpha() and before[-1:] == " "
    if mark.startswith("assistant"):
        return _ARTICLE.search(before) is not None
    return mark.startswith("user ") and _CONDITION.search(before) is not None


def _official(text: Text) -> Iterator[Finding]:
    """Yield a label in capitals that claims an office, where the words after it command."""
    for office in _OFFICE.finditer(text.raw) if text.hits.get("MUST") else ():
        if not (label := _LABEL_END.match(text.raw, office.end())):
            continue
        after = [hit for hit in text.hits.get("MUST", ()) if text.tokens.starts[hit.first] >= label.end()]
        if after and text.tokens.starts[after[0].first] - label.end() <= _COMMANDED:
            yield _AUTHORITY.finding_at(text.evidence_at(office.start(), label.end()))
            return


def _tags(text: Text, plain: str) -> Iterator[Finding]:
    if len(plain) != len(text.raw):
        return
    for match in _TAGGED.finditer(plain):
        opening, word = match[0][0], match[1]
        before = plain[max(0, match.start() - _NEAR) : match.start()]
        if _SHOWN.search(before) or (_is_placeholder(text, match) and f"</{word}" not in plain):
            continue
        if (word in SPECIAL or not _ABOVE.isdisjoint(re.split("[-_]", word))) and (
            opening == "<" or match[0].startswith(("[[", "{{", "(("))
        ):
            rule = _NOTE if word in _HONEST_TAGS and match[0] == f"<{word}" else _TAG
            yield rule.finding_at(text.evidence_at(*match.span()))
            return


def _is_placeholder(text: Text, tag: re.Match[str]) -> bool:
    """Tell whether a tag stands for a part of an address or a path, as `/data/<secret to fetch>` does."""
    within = _WITHIN.search(text.raw, max(0, tag.start() - _NEAR), tag.start())
    return within is not None and text.raw[tag.start() : tag.end()].islower()


DETECTOR: Final = Detector((_TURN, _TAG, _LABEL, _NOTE, _AUTHORITY), _find)
