"""What is looked for in the audit log."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from mcpguard.domain.errors import GuardError


class Key(StrEnum):
    """What a term of a filter is about."""

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


ABOUT: Final = {
    Key.SERVER: "the name of a server",
    Key.TOOL: "a tool, by its name or as server:name",
    Key.RESOURCE: "a resource, by its URI or as server:URI",
    Key.TEMPLATE: "a template of resources, likewise",
    Key.PROMPT: "a prompt, by its name or as server:name",
    Key.NAME: "any of these four",
    Key.CALLER: "the agent, by its name or id",
    Key.ACTOR: "whoever did it: a person, a program that acts for people, or the agent",
    Key.VERDICT: "allow, hold or deny",
    Key.OUTCOME: "answered, failed, refused, held, cancelled or unknown",
    Key.EFFECT: "read, write or destructive",
    Key.REASON: "why a call was refused, or ended otherwise than answered",
    Key.KIND: "the kind of record, as the format of the ledger names them",
    Key.CALL: "the id of a call: all that is recorded of it",
}


class BadFilter(GuardError, ValueError):
    """This is no filter. Says what is wrong with it, and what would be right."""


@dataclass(frozen=True, slots=True)
class FilterTerm:
    """A record fits if what the term is about is any of the values; or, `without`, none of them. `*` in a value is any
    run of characters, `?` any one."""

    key: Key
    values: tuple[str, ...]
    without: bool = False


@dataclass(frozen=True, slots=True)
class Filter:
    """A record fits if every term does, and if it was made from `since` on and before `until` (UTC, microseconds)."""

    terms: tuple[FilterTerm, ...] = ()
    since: int | None = None
    until: int | None = None


EVERYTHING: Final = Filter()
