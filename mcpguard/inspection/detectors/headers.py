"""Detects `x-mcp-header`: parameters that clients copy into HTTP headers, where others read and log them (T22)."""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Final

from mcpguard.domain.findings import Finding
from mcpguard.inspection.detectors.detector import Detector, Surroundings
from mcpguard.inspection.rules.rule_table import RULES
from mcpguard.inspection.texts.texts import DefinitionTexts, Text, TextRole

_SECRET: Final = RULES["header.secret"]
_HEADER: Final = RULES["header.used"]
_KEY: Final = "x-mcp-header"
_SECRETS: Final = frozenset({"SECRETS", "CONVERSATION", "SYSTEM_PROMPT", "PRIVATE"})
_WORDS_WORDS: Final = """
    token secret key auth authorization password credential cookie session
"""
_WORDS: Final = frozenset(_WORDS_WORDS.split())
_MOST: Final = 500
_DEEPEST: Final = 8


def _find(subject: DefinitionTexts, _surroundings: Surroundings) -> Iterator[Finding]:
    if not any(text.role is TextRole.KEY and text.raw == _KEY for text in subject.texts):
        return
    for path, name, schema in _parameters(subject.definition.get("inputSchema")):
        if _KEY in schema:
            sources = [name, schema.get("description"), schema.get(_KEY)]
            rule = _SECRET if any(_is_secret(each) for each in sources if isinstance(each, str)) else _HEADER
            yield rule.finding_at(Text(f"key:{path}", name).evidence_at(0, len(name)))


def _parameters(schema: object) -> Iterator[tuple[str, str, Mapping[str, object]]]:
    left: list[tuple[str, object, int]] = [("/inputSchema", schema, 0)]
    seen = 0
    while left and seen < _MOST:
        path, each, depth = left.pop()
        properties = each.get("properties") if isinstance(each, Mapping) else None
        for name, inner in islice(properties.items(), _MOST) if isinstance(properties, Mapping) else ():
            seen += 1
            if isinstance(inner, Mapping) and isinstance(name, str):
                below = f"{path}/properties/{name.replace('~', '~0').replace('/', '~1')}"
                yield below, name, inner
                if depth < _DEEPEST:
                    left.append((below, inner, depth + 1))


def _is_secret(source: str) -> bool:
    text = Text("", source[:200], TextRole.KEY if source.isidentifier() else TextRole.VALUE)
    return not _SECRETS.isdisjoint(text.hits) or not _WORDS.isdisjoint(text.tokens.words)


DETECTOR: Final = Detector((_SECRET, _HEADER), _find)
