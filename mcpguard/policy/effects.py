"""The effect of a tool: the one that its server declares, and the one that mcpguard suggests.

Rules kept here:
1. A suggestion is for the reviewer; it never allows a call.
2. No sign makes a tool safer than its name, parameters and description suggest: the worst sign counts, and without any
   sign the effect is write.
3. The reason for a suggestion is a constant sentence with words from mcpguard's own lists, never the server's text.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from mcpguard.domain.capabilities import Effect
from mcpguard.domain.servers.listings import Definition
from mcpguard.policy.effect_signs import EffectSign, signs_of_name, signs_of_schema, signs_of_text

_CARE: Final = tuple(Effect)
"""All effects, from harmless to irreversible."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """The effect that a tool seems to have, and why."""

    effect: Effect
    because: str


_NOTHING: Final = Suggestion(Effect.WRITE, "nothing indicates that it only reads")


def declared_effect(definition: Definition) -> Effect | None:
    """Return the effect that the annotations of a tool declare; None if they declare none.

    A destructive hint counts even beside a read-only hint. `readOnlyHint: false` alone means write: that the protocol
    assumes destructive then is its default, not a statement of the server. A hint that is neither true nor false counts
    as absent, except `destructiveHint`, which nobody would add to say that there is none.
    """
    match definition.get("annotations"):
        case Mapping() as hints:
            reads, destroys = hints.get("readOnlyHint"), hints.get("destructiveHint")
        case _:
            return None
    if destroys is not None and destroys is not False:
        return Effect.DESTRUCTIVE
    if reads is True:
        return Effect.READ
    return Effect.WRITE if destroys is False or reads is False else None


def suggest_effect(definition: Definition) -> Suggestion:
    """Suggest the effect of a tool from its name, texts and parameters."""
    suggestion, worse = _NOTHING, None
    for sign in _signs(definition):
        if sign.effect is None:
            worse = worse or sign
        elif suggestion is _NOTHING or _CARE.index(sign.effect) > _CARE.index(suggestion.effect):
            suggestion = Suggestion(sign.effect, sign.because)
    if worse is None or suggestion.effect is Effect.DESTRUCTIVE:
        return suggestion
    return Suggestion(_CARE[_CARE.index(suggestion.effect) + 1], worse.because)


def careful_effect(declared: Effect | None, suggested: Effect) -> Effect:
    """Return the more careful of the declared and the suggested effect."""
    return max(suggested, declared or suggested, key=_CARE.index)


def _signs(definition: Definition) -> Iterator[EffectSign]:
    name, annotations = definition.get("name"), definition.get("annotations")
    titles = [definition.get("title"), annotations.get("title") if isinstance(annotations, Mapping) else None]
    name = name if isinstance(name, str) else ""
    yield from signs_of_name(name)
    for title in titles:
        if isinstance(title, str):
            yield from signs_of_text(title, "title")
    if isinstance(description := definition.get("description"), str):
        yield from signs_of_text(description, "description")
    if isinstance(schema := definition.get("inputSchema"), Mapping):
        yield from signs_of_schema(schema, name)
