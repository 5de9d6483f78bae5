"""Filters of the audit log."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from mcpguard.domain.errors import GuardError


class FilterKey(StrEnum):
    """The keys of filter terms."""

    SERVER = "server"
    TOOL = "tool"
    RESOURCE = "resource"
    TEMPLATE = "template"
    PROMPT = "prompt"
    NAME = "name"
    CALLER = "caller"
    ACTOR = "actor"
    VERDICT = "verdict"
    OUTCOME = "outcome"
    EFFECT = "effect"
    REASON = "reason"
    KIND = "kind"
    CALL = "call"
    PARENT = "parent"
    TEXT = "text"


KEY_MEANINGS: Final = {
    FilterKey.SERVER: "the name of a server",
    FilterKey.TOOL: "a tool, by its name or as server:name",
    FilterKey.RESOURCE: "a resource, by its URI or as server:URI",
    FilterKey.TEMPLATE: "a resource template, by its URI template or as server:template",
    FilterKey.PROMPT: "a prompt, by its name or as server:name",
    FilterKey.NAME: "a tool, resource, template or prompt",
    FilterKey.CALLER: "the caller, by label or id",
    FilterKey.ACTOR: "who did it: a user, a program with an API token, or a caller",
    FilterKey.VERDICT: "allow, hold or deny",
    FilterKey.OUTCOME: "answered, failed, refused, held, cancelled or unknown",
    FilterKey.EFFECT: "read, write or destructive",
    FilterKey.REASON: "why a call was refused or did not end with its response",
    FilterKey.KIND: "the kind of record, such as opened or decided",
    FilterKey.CALL: "the id of a call: all of its records",
    FilterKey.PARENT: "the id of a run of a program: the calls that it made",
    FilterKey.TEXT: "any text in names, reasons and errors; the same as a word without a key",
}


class BadFilter(GuardError, ValueError):
    """A filter cannot be read. The message says what is wrong and what would be right."""


@dataclass(frozen=True, slots=True)
class FilterTerm:
    """A record matches if the key has one of the values or, with `without`, none of them. In a value `*` stands for any
    characters and `?` for one. A text has its value anywhere in it, with letters A to Z in either case."""

    key: FilterKey
    values: tuple[str, ...]
    without: bool = False


@dataclass(frozen=True, slots=True)
class Filter:
    """A record matches if all terms match and it was made from `since` on and before `until` (UTC, microseconds)."""

    terms: tuple[FilterTerm, ...] = ()
    since: int | None = None
    until: int | None = None


ALL_RECORDS: Final = Filter()
