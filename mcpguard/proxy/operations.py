"""The operations that the tool can be asked for.

Rules kept here:
1. `info` and `call` are about one thing, which `path` names; `list` is about all, and takes none. Only `call` has
   arguments, and only `list` is paged and filtered.
2. An empty value counts as not given: "", {}, [] and null.
3. An error is a sentence that says what would be right. No value is repeated.
4. A batch is a list of such operations, and of no batches. It is read as a whole before anything of it is done.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, TypeVar

from mcpguard.codec.messages import dumps
from mcpguard.codec.strict import StrictError, parse
from mcpguard.domain.errors import GuardError
from mcpguard.proxy.filtering import EVERYTHING, LONGEST_TAG, MOST_TAGS, ListFilter

MOST_LISTED: Final = 1000
"""Entries of a list that are given at once."""
LONGEST_PATH: Final = 8192
LARGEST_ARGUMENTS: Final = 4 * 1024 * 1024
"""Bytes that the arguments of one operation may have, and those of a batch together."""
FURTHEST: Final = 2**31
MOST_OPERATIONS: Final = 20
"""In one batch."""
BATCH: Final = "batch"
OPERATIONS: Final = "operations"
OF_ONE: Final = ("action", "type", "path", "args", "limit", "offset", "filter_server", "filter")
MEMBERS: Final = (*OF_ONE, OPERATIONS)
_OF_FILTER: Final = ("prefix", "tags")
_NOTHING: Final[tuple[object, ...]] = (None, "", {}, [])

Word = TypeVar("Word", bound=StrEnum)


class Action(StrEnum):
    LIST = "list"
    INFO = "info"
    CALL = "call"


class ProxyType(StrEnum):
    """The kind of thing that an operation is about."""

    TOOL = "tool"
    RESOURCE = "resource"
    PROMPT = "prompt"


class InvalidOperation(GuardError, ValueError):
    """The arguments are no operation. The sentence says what is wrong, and what would be right."""


@dataclass(frozen=True, slots=True)
class ProxyOperation:
    """One operation. `limit`, `offset`, `server` and `filter` select a part of a list."""

    action: Action
    type: ProxyType
    path: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    limit: int = MOST_LISTED
    offset: int = 0
    server: str = ""
    filter: ListFilter = EVERYTHING

    def as_given(self) -> dict[str, Any]:
        """Return the tool's arguments for this operation."""
        said: dict[str, Any] = {"action": self.action.value, "type": self.type.value}
        if self.path:
            said["path"] = self.path
        if self.arguments:
            said["args"] = dict(self.arguments)
        if self.action is Action.LIST:
            said |= {"limit": self.limit} if self.limit != MOST_LISTED else {}
            said |= {"offset": self.offset} if self.offset else {}
            said |= {"filter_server": self.server} if self.server else {}
            said |= {"filter": self.filter.as_given()} if self.filter != EVERYTHING else {}
        return said


@dataclass(frozen=True, slots=True)
class Batch:
    """Operations that are done one after the other."""

    operations: tuple[ProxyOperation, ...]

    def as_given(self) -> dict[str, Any]:
        """Return the tool's arguments for this batch."""
        return {"action": BATCH, OPERATIONS: [each.as_given() for each in self.operations]}


def read(given: Mapping[str, Any]) -> ProxyOperation | Batch:
    """Read the tool's arguments. Raises InvalidOperation."""
    _only(given, MEMBERS)
    if given.get("action") == BATCH:
        if any(given.get(name) not in _NOTHING for name in OF_ONE[1:]):
            raise InvalidOperation(f"{BATCH} takes {OPERATIONS} and nothing else; each of them says what it is about")
        return validate_batch(given.get(OPERATIONS))
    if given.get(OPERATIONS) not in _NOTHING:
        raise InvalidOperation(f"{OPERATIONS}: {BATCH} takes them, and no other action does")
    return _one(given)


def validate_batch(operations: object) -> Batch:
    """Return a batch of operations, each in the form that the tool takes alone. Raises InvalidOperation."""
    if not isinstance(operations, list | tuple) or not 1 <= len(operations) <= MOST_OPERATIONS:
        raise InvalidOperation(f"{OPERATIONS}: a list of 1 to {MOST_OPERATIONS} operations")
    found = tuple(_placed(at, each) for at, each in enumerate(operations))
    if sum(map(_size, found)) > LARGEST_ARGUMENTS:
        raise InvalidOperation(f"{OPERATIONS}: their args have at most {LARGEST_ARGUMENTS} bytes together")
    return Batch(found)


def validate_operation(
    action: object,
    proxy_type: object,
    path: object = None,
    args: object = None,
    *,
    limit: object = None,
    offset: object = None,
    filter_server: object = None,
    filter: object = None,  # noqa: A002 - the contract's name
) -> ProxyOperation:
    """Return an operation. `args` is an object, or the text of one as JSON. Raises InvalidOperation."""
    what, kind = _one_of(Action, "action", action), _one_of(ProxyType, "type", proxy_type)
    named, arguments = _text("path", path), _object("args", args)
    if what is Action.LIST and named:
        raise InvalidOperation("path: list takes none; info and call do")
    if what is not Action.LIST and not named:
        raise InvalidOperation(f"path: {what} needs the name or the URI of what is meant, as list gives it")
    if what is not Action.CALL and arguments:
        raise InvalidOperation(f"args: {what} takes none; call does")
    chosen = _filter(filter)
    if what is not Action.LIST and ((limit, offset, filter_server) != (None, None, None) or chosen != EVERYTHING):
        raise InvalidOperation(f"limit, offset, filter_server and filter: {what} takes none; list does")
    return ProxyOperation(
        what,
        kind,
        named,
        arguments,
        MOST_LISTED if limit is None else _number("limit", limit, 1, MOST_LISTED),
        0 if offset is None else _number("offset", offset, 0, FURTHEST),
        _text("filter_server", filter_server),
        chosen,
    )


def _placed(at: int, said: object) -> ProxyOperation:
    """Read the operation at this place of a batch."""
    if not isinstance(said, Mapping):
        raise InvalidOperation(f"{OPERATIONS}[{at}]: an object")
    try:
        _only(said, OF_ONE)
        return _one(said)
    except InvalidOperation as error:
        raise InvalidOperation(f"{OPERATIONS}[{at}]: {error}") from None


def _one(given: Mapping[str, Any]) -> ProxyOperation:
    action, proxy_type, path, args, *part = map(given.get, OF_ONE)
    limit, offset, server, chosen = part
    return validate_operation(
        action, proxy_type, path, args, limit=limit, offset=offset, filter_server=server, filter=chosen
    )


def _only(given: Iterable[object], members: tuple[str, ...]) -> None:
    if any(name not in members for name in given):
        raise InvalidOperation(f"there are no arguments but {', '.join(members)}")


def _filter(said: object) -> ListFilter:
    given = _object("filter", said)
    if any(name not in _OF_FILTER for name in given):
        raise InvalidOperation(f"filter: it has no members but {', '.join(_OF_FILTER)}")
    tags = given.get("tags")
    if not isinstance(tags, list | None) or len(tags or ()) > MOST_TAGS:
        raise InvalidOperation(f"filter.tags: a list of at most {MOST_TAGS} texts")
    return ListFilter(_text("filter.prefix", given.get("prefix")), tuple(map(_tag, tags or ())))


def _tag(said: object) -> str:
    if not isinstance(said, str) or not 1 <= len(said) <= LONGEST_TAG:
        raise InvalidOperation(f"filter.tags: texts of 1 to {LONGEST_TAG} characters")
    return said


def _size(operation: ProxyOperation) -> int:
    try:
        return len(dumps(operation.arguments)) if operation.arguments else 0
    except (TypeError, ValueError):
        raise InvalidOperation("args: an object of JSON") from None


def _one_of(words: type[Word], name: str, said: object) -> Word:
    if isinstance(said, str) and said in words.__members__.values():
        return words(said)
    more = f", {BATCH}" if words is Action else ""
    raise InvalidOperation(f"{name}: one of {', '.join(words)}{more}")


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


def _object(name: str, said: object) -> dict[str, Any]:
    if isinstance(said, str):
        try:
            said = parse(said.encode(), max_bytes=LARGEST_ARGUMENTS) if said.strip() else None
        except (StrictError, UnicodeError):
            raise InvalidOperation(f"{name}: an object, or the text of one as JSON") from None
    if said is None:
        return {}
    if not isinstance(said, dict) or not all(isinstance(key, str) for key in said):
        raise InvalidOperation(f"{name}: an object, or the text of one as JSON")
    return said
