"""Which effect a tool has: what its server declares, and what we suggest.

Rules kept here:
1. A suggestion is for a person to look at; nothing is allowed because of one.
2. Nothing that is said makes a tool safer than its name, its parameters and its description tell: of all that is told,
   the worst counts, and where nothing is told, it writes.
3. The reason that is given is a constant sentence of ours with words of our own lists, never the server's text.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from mcpguard.domain.capabilities import Effect
from mcpguard.domain.servers.listings import Definition
from mcpguard.policy.telling import EffectSign, of_name, of_schema, of_text

_CARE: Final = tuple(Effect)
"""From harmless to irreversible."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """The effect that a tool seems to have, and what in it says so."""

    effect: Effect
    because: str


_NOTHING: Final = Suggestion(Effect.WRITE, "nothing in it says that it only reads")


def declared(definition: Definition) -> Effect | None:
    """What the server says of a tool in its annotations; None if it says nothing.

    A tool that is said to be destructive is, also where it is said to read only. `readOnlyHint: false` alone says that
    it writes: that the protocol then takes it for destructive is a default, and no word of the server's. A hint that is
    neither true nor false says nothing, but for `destructiveHint`, which nobody would give to say that there is none.
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


def suggested(definition: Definition) -> Suggestion:
    """What a tool seems to do, by its name, its texts and its parameters."""
    told, worse = _NOTHING, None
    for sign in _signs(definition):
        if sign.effect is None:
            worse = worse or sign
        elif told is _NOTHING or _CARE.index(sign.effect) > _CARE.index(told.effect):
            told = Suggestion(sign.effect, sign.because)
    if worse is None or told.effect is Effect.DESTRUCTIVE:
        return told
    return Suggestion(_CARE[_CARE.index(told.effect) + 1], worse.because)


def careful(declared: Effect | None, suggested: Effect) -> Effect:
    """The most careful of what is explicitly declared and what is suggested."""
    return max(suggested, declared or suggested, key=_CARE.index)


def _signs(definition: Definition) -> Iterator[EffectSign]:
    name, annotations = definition.get("name"), definition.get("annotations")
    titles = [definition.get("title"), annotations.get("title") if isinstance(annotations, Mapping) else None]
    name = name if isinstance(name, str) else ""
    yield from of_name(name)
    for title in titles:
        if isinstance(title, str):
            yield from of_text(title, "title")
    if isinstance(description := definition.get("description"), str):
        yield from of_text(description, "description")
    if isinstance(schema := definition.get("inputSchema"), Mapping):
        yield from of_schema(schema, name)
