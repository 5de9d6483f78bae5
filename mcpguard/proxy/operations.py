"""What the tool is asked to do, and what it is not.

Rules kept here:
1. `info` and `call` are about one thing, which `path` names; `list` is about all, and takes none. Only `call` has
   arguments, and only `list` is cut into parts.
2. What is empty counts as not given: "", {} and null.
3. What is wrong is said in a sentence that says what would be right. No value is repeated.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, TypeVar

from mcpguard.codec.strict import StrictError, parse
from mcpguard.domain.errors import GuardError

MOST_LISTED: Final = 1000
"""Entries of a list that are given at once."""
LONGEST_PATH: Final = 8192
LARGEST_ARGUMENTS: Final = 4 * 1024 * 1024
FURTHEST: Final = 2**31
MEMBERS: Final = ("action", "type", "path", "args", "limit", "offset", "filter_server")

Word = TypeVar("Word", bound=StrEnum)


class Action(StrEnum):
    LIST = "list"
    INFO = "info"
    CALL = "call"


class ProxyType(StrEnum):
    """What it is done with."""

    TOOL = "tool"
    RESOURCE = "resource"
    PROMPT = "prompt"


class InvalidOperation(GuardError, ValueError):
    """What was asked for is no operation. Says what is wrong with it, and what would be right."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One thing to do. `limit`, `offset` and `server` say which part of a list is meant."""

    action: Action
    type: ProxyType
    path: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    limit: int = MOST_LISTED
    offset: int = 0
    server: str = ""

    def given(self) -> dict[str, Any]:
        """The arguments of the tool that ask for this."""
        said: dict[str, Any] = {"action": self.action.value, "type": self.type.value}
        if self.path:
            said["path"] = self.path
        if self.arguments:
            said["args"] = dict(self.arguments)
        if self.action is Action.LIST:
            said |= {"limit": self.limit} if self.limit != MOST_LISTED else {}
            said |= {"offset": self.offset} if self.offset else {}
            said |= {"filter_server": self.server} if self.server else {}
        return said


def read(given: Mapping[str, Any]) -> Operation:
    """The operation that the tool's arguments ask for. Raises InvalidOperation."""
    unknown = next((name for name in given if name not in MEMBERS), None)
    if unknown is not None:
        raise InvalidOperation(f"there are no arguments but {', '.join(MEMBERS)}")
    action, proxy_type, path, args, limit, offset, server = map(given.get, MEMBERS)
    return validate_operation(action, proxy_type, path, args, limit=limit, offset=offset, filter_server=server)


def validate_operation(
    action: object,
    proxy_type: object,
    path: object = None,
    args: object = None,
    *,
    limit: object = None,
    offset: object = None,
    filter_server: object = None,
) -> Operation:
    """The operation, if it is one. `args`: an object, or the text of one as JSON. Raises InvalidOperation."""
    what, kind = _one_of(Action, "action", action), _one_of(ProxyType, "type", proxy_type)
    named, arguments = _text("path", path), _arguments(args)
    if what is Action.LIST and named:
        raise InvalidOperation("path: list takes none; info and call do")
    if what is not Action.LIST and not named:
        raise InvalidOperation(f"path: {what} needs the name or the URI of what is meant, as list gives it")
    if what is not Action.CALL and arguments:
        raise InvalidOperation(f"args: {what} takes none; call does")
    if what is not Action.LIST and (limit, offset, filter_server) != (None, None, None):
        raise InvalidOperation(f"limit, offset and filter_server: {what} takes none; list does")
    return Operation(
        what,
        kind,
        named,
        arguments,
        MOST_LISTED if limit is None else _number("limit", limit, 1, MOST_LISTED),
        0 if offset is None else _number("offset", offset, 0, FURTHEST),
        _text("filter_server", filter_server),
    )


def _one_of(words: type[Word], name: str, said: object) -> Word:
    if isinstance(said, str) and said in words.__members__.values():
        return words(said)
    raise InvalidOperation(f"{name}: one of {', '.join(words)}")


def _text(name: str, said: object) -> str:
    if said is None:
        return ""
    if not isinstance(said, str) or "\0" in said:
        raise InvalidOperation(f"{name}: a text without NUL characters")
    if len(said) > LONGEST_PATH:
        raise InvalidOperation(f"{name}: at most {LONGEST_PATH} characters")
    return said


def _number(name: str, said: object, least: int, most: int) -> int:
    if type(said) is not int or not least <= said <= most:
        raise InvalidOperation(f"{name}: a whole number from {least} to {most}")
    return said


def _arguments(said: object) -> dict[str, Any]:
    if isinstance(said, str):
        try:
            said = parse(said.encode(), max_bytes=LARGEST_ARGUMENTS) if said.strip() else None
        except (StrictError, UnicodeError):
            raise InvalidOperation("args: an object, or the text of one as JSON") from None
    if said is None:
        return {}
    if not isinstance(said, dict) or not all(isinstance(name, str) for name in said):
        raise InvalidOperation("args: an object, or the text of one as JSON")
    return said
