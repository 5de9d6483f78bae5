"""Tells where a change presets a value that decides where data goes: a default, a constant, or a choice.

A model passes such values on without being told to. An address in one is new if the approved definition had it nowhere;
a path or a recipient if it was not preset in the same place.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from mcpguard.domain.additions import Addition, AdditionKind
from mcpguard.domain.findings import Evidence
from mcpguard.inspection.additions.new_destinations import shown_name
from mcpguard.inspection.additions.new_texts import ApprovedText
from mcpguard.inspection.texts.texts import TextRole, strings
from mcpguard.policy.lexicon import parts

_PRESET: Final = re.compile(r"/(?:default|const|enum/\d+)(?:/|$)")
_CHOICE: Final = re.compile(r"/enum/\d+$")
_PATH: Final = re.compile(r"(?:~|\$\{?[A-Z]+\}?|%[A-Z]+%|[A-Za-z]:|\.\.|file:/)?[/\\](?:[^/\\\s]+[/\\])*[^/\\\s]{2,}$")
_PRIVATE: Final = re.compile(r"^(?:~|\$|%|\.\.|file:|[A-Za-z]:\\)|/(?:home|Users|root|etc|var|proc|mnt|private)/|/\.\w")
_RECIPIENTS: Final = frozenset(
    ["cc", "bcc", "recipient", "recipients", "payee", "beneficiary", "iban", "wallet", "webhook", "callback", "forward"]
)
_ALONE: Final = frozenset({"to", "account", "destination", "endpoint"})
_LONGEST_NAME: Final = 100
_LONGEST: Final = 2_000


def find_new_values(before: Mapping[str, Any], after: Mapping[str, Any], approved: ApprovedText) -> Iterator[Addition]:
    """Yield the values that are preset now and were not before, where they hold a path or a recipient."""
    old = {
        (path, text) for path, text, role in strings(before) if text and role is TextRole.VALUE and _PRESET.search(path)
    }
    yield from _new_choices(before, after)
    for path, text, role in strings(after):
        if not text or role is not TextRole.VALUE or not (match := _PRESET.search(path)) or (path, text) in old:
            continue
        if len(text) > _LONGEST:
            continue
        whole = Evidence(path, 0, len(text))
        if "/enum/" not in path and (purpose := _purpose(path[: match.start()], text)):
            yield Addition(AdditionKind.VALUE, whole, purpose, shown_name(text))
        elif "/enum/" in path and _PRIVATE.search(text) and _PATH.search(text) and text not in approved.sentences:
            yield Addition(AdditionKind.VALUE, whole, "with a path", shown_name(text))


def _purpose(of: str, text: str) -> str:
    if _PATH.search(text) and _PRIVATE.search(text):
        return "with a path"
    name = of.rpartition("/")[2][:_LONGEST_NAME]
    names = parts(name)
    return "with a recipient" if name in _ALONE or not _RECIPIENTS.isdisjoint(names) else ""


def _new_choices(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Addition]:
    """Yield the defaults that were no choice when the definition was approved."""
    old, new = _choices(before), _choices(after)
    for name, (choices, default) in new.items():
        approved, preset = old.get(name, (frozenset(), ""))
        if default in choices and approved and default not in approved and preset != default:
            yield Addition(
                AdditionKind.VALUE,
                Evidence(f"{name}/default", 0, len(default)),
                "that is a new choice",
                shown_name(default),
            )


def _choices(definition: Mapping[str, Any]) -> dict[str, tuple[frozenset[str], str]]:
    """Return the choices and the default of each argument that has both, by its path."""
    choices: dict[str, set[str]] = {}
    defaults: dict[str, str] = {}
    for path, text, role in strings(definition):
        if text and role is TextRole.VALUE:
            if match := _CHOICE.search(path):
                choices.setdefault(path[: match.start()], set()).add(text)
            elif path.endswith("/default"):
                defaults[path.removesuffix("/default")] = text
    return {name: (frozenset(some), defaults.get(name, "")) for name, some in choices.items()}
