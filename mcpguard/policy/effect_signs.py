"""Signs of a tool's effect in its name, texts and schema.

Rules kept here:
1. A sign of destruction counts wherever it is; signs of reading never outweigh it.
2. Text that is too long or a schema that is too wide is inspected in part, and then never counts as reading.
3. The reason given for a sign is a constant sentence with words from mcpguard's own lists.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice, pairwise
from typing import Final

from mcpguard.domain.capabilities import Effect
from mcpguard.policy import lexicon
from mcpguard.policy.lexicon import EffectWord

LONGEST_NAME: Final = 256
LONGEST_TEXT: Final = 4096
LONGEST_WORD: Final = 64
MOST_PARAMETERS: Final = 200
MOST_CHOICES: Final = 100
_SENTENCE: Final = 300
_BEGINNING: Final = 8


@dataclass(frozen=True, slots=True)
class EffectSign:
    """One sign. Without an effect of its own, it makes the effect of all others one step worse."""

    effect: Effect | None
    because: str


def signs_of_name(name: str) -> Iterator[EffectSign]:
    """Yield the signs in the name of a tool."""
    if len(name) > LONGEST_NAME:
        yield EffectSign(Effect.DESTRUCTIVE, "its name is too long, inspected in part")
        return
    for found in _in_name(name):
        yield EffectSign(found.effect, f'its name says "{found.word}"')
    if not lexicon.strip_marks(name).isascii():
        yield EffectSign(Effect.WRITE, "its name has letters that may be homoglyphs")


def signs_of_text(text: str, what: str) -> Iterator[EffectSign]:
    """Yield the signs in a text. `what`: our word for the text, as in "its description"."""
    if len(text) > LONGEST_TEXT:
        yield EffectSign(Effect.WRITE, f"its {what} is too long, inspected in part")
    whole = lexicon.plain_text(text[:LONGEST_TEXT])
    first = _first_sentence(whole)
    yield from _of_first(first, what)
    rest = whole[len(first) :]
    if phrase := lexicon.find_phrase(rest):
        yield EffectSign(None, f'its {what} says "{phrase}"')
    if verb := _destroying(lexicon.words(rest)):
        yield EffectSign(Effect.WRITE, f'its {what} says "{verb}"')


def signs_of_schema(schema: Mapping[object, object], name: str) -> Iterator[EffectSign]:
    """Yield the signs in the parameters of the first level, also in combination with the name."""
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return
    keys = [key for key in islice(properties, MOST_PARAMETERS) if isinstance(key, str)]
    if len(properties) > MOST_PARAMETERS or any(len(key) > LONGEST_WORD for key in keys):
        yield EffectSign(Effect.WRITE, "too many or too long parameters, inspected in part")
    tokens = {key: lexicon.parts(key[:LONGEST_WORD]) for key in keys}
    seen = frozenset(chain(*tokens.values()))
    yield from chain(*map(_of_parameter, tokens.values()))
    yield from _of_choices([properties[key] for key in keys if lexicon.CHOICE_PARAMETERS & set(tokens[key])])
    named = set(lexicon.parts(name[:LONGEST_NAME]))
    for runner in sorted(lexicon.RUNNERS & named):
        for subject in sorted(lexicon.RUN & (named | seen)):
            yield EffectSign(Effect.DESTRUCTIVE, f'its name says "{runner}", and it is given "{subject}"')
    for place in sorted(lexicon.PLACE_PARAMETERS & seen):
        for content in sorted(lexicon.CONTENT_PARAMETERS & seen):
            yield EffectSign(Effect.WRITE, f'it takes "{place}" and "{content}"')


def _in_name(name: str) -> Iterator[EffectWord]:
    """Yield the verbs of a name. A word that may also be a noun counts only if it is the leading word."""
    parts = lexicon.parts(name)
    for part in (*parts, *lexicon.capital_parts(name)):
        if verb := lexicon.find_destructive_stem(part):
            yield EffectWord(Effect.DESTRUCTIVE, verb)
    for part in lexicon.capital_parts(name):
        if (found := lexicon.find_effect_word(part)) and found.effect is Effect.DESTRUCTIVE and not found.noun:
            yield found
    if found := lexicon.find_sign(lexicon.plain_text(name)):
        yield found
    yield from _verbs(_compounded(parts))


def _compounded(parts: Sequence[str]) -> list[str]:
    """Join compounds: `check_out` is no check, and `pull_request` is no pull."""
    joined: list[str] = []
    for part in parts:
        if joined and (joined[-1], part) in lexicon.COMPOUNDS:
            joined[-1] += part
        else:
            joined.append(part)
    return joined


def _verbs(parts: Sequence[str]) -> Iterator[EffectWord]:
    leads = True
    for part in parts:
        if part in lexicon.JOINTS:
            leads = True
        elif (found := lexicon.find_effect_word(part)) is not None:
            plural = found.effect is not Effect.DESTRUCTIVE and part != lexicon.plain_text(found.word)
            if plural and (found.noun or not leads):
                continue
            if leads or not found.noun:
                yield found
            leads = False


def _of_first(first: str, what: str) -> Iterator[EffectSign]:
    """Yield the signs in the first sentence, which says what a tool is for."""
    words = lexicon.words(first)
    if found := _leading(words):
        yield EffectSign(found.effect, f'its {what} begins with "{found.word}"')
    if found := lexicon.find_sign(first):
        yield EffectSign(found.effect, f'its {what} says "{found.word}"')
    if phrase := lexicon.find_phrase(first):
        yield EffectSign(Effect.DESTRUCTIVE, f'its {what} says "{phrase}"')
    if verb := _destroying(words):
        yield EffectSign(Effect.DESTRUCTIVE, f'its {what} says "{verb}"')
    for before, word in pairwise(words):
        joined = lexicon.find_effect_word(word) if before in lexicon.JOINTS else None
        if joined is not None and joined.effect is not Effect.READ and not joined.noun:
            yield EffectSign(joined.effect, f'its {what} says "{joined.word}"')


def _leading(words: Sequence[str]) -> EffectWord | None:
    """Return the first verb near the beginning. If it follows more than fillers, it must not be a noun or a sign of
    reading: what precedes may be a verb that is in no list."""
    filled = True
    for word in words[:_BEGINNING]:
        found = lexicon.find_effect_word(word) or (lexicon.IN_TEXT.get(word) or _doing(word) if filled else None)
        if found is not None and (filled or not found.noun):
            return found if filled or found.effect is not Effect.READ else None
        filled = filled and word in lexicon.FILLERS
    return None


def _destroying(words: Iterable[str]) -> str | None:
    """Return the first destructive verb. Participles do not count: a tool may list what was deleted."""
    acting = (word for word in words if not word.endswith(("ed", "en")))
    return next(filter(None, map(lexicon.find_destructive_stem, acting)), None)


def _doing(word: str) -> EffectWord | None:
    """Return the verb of a form such as `deleting`, `creating` or `getting`."""
    if not word.endswith("ing") or len(word) < len("doing"):
        return None
    root = word.removesuffix("ing")
    return lexicon.find_effect_word(root) or lexicon.find_effect_word(root + "e") or lexicon.find_effect_word(root[:-1])


def _of_parameter(tokens: Sequence[str]) -> Iterator[EffectSign]:
    for token in tokens:
        if token in lexicon.CODE_PARAMETERS:
            yield EffectSign(Effect.DESTRUCTIVE, f'it takes "{token}"')
        if token in lexicon.FORCE_PARAMETERS:
            yield EffectSign(None, f'it takes "{token}"')
        if verb := lexicon.find_destructive_stem(token):
            yield EffectSign(None, f'it takes "{verb}"')


def _of_choices(parameters: Iterable[object]) -> Iterator[EffectSign]:
    """Yield the signs in the choices of a tool with several operations."""
    listed = (each.get("enum", [each.get("const")]) for each in parameters if isinstance(each, Mapping))
    choices = list(islice(chain(*(each for each in listed if isinstance(each, list))), MOST_CHOICES + 1))
    if len(choices) > MOST_CHOICES or any(isinstance(each, str) and len(each) > LONGEST_WORD for each in choices):
        yield EffectSign(Effect.WRITE, "too many or too long choices, inspected in part")
    for choice in choices[:MOST_CHOICES]:
        for found in _in_name(choice[:LONGEST_WORD]) if isinstance(choice, str) else ():
            if found.effect is not Effect.READ:
                yield EffectSign(found.effect, f'it can be told to "{found.word}"')


def _first_sentence(text: str) -> str:
    ends = [text.find(end) for end in (". ", "! ", "\n", "。")]
    return text[: min([_SENTENCE, *(end + 1 for end in ends if end > 0)])]
