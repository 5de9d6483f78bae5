"""The functions by which a program calls the host: what they take, and how the guard is asked.

A part of the worker, which the guard does not import.
"""

import reprlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from mcpguard.engines.python.plain_values import NotPlain, plain_json
from mcpguard.engines.python.written_calls import ONE, SEVERAL

FUNCTIONS: Final = frozenset({ONE, SEVERAL, "log"})


@dataclass(frozen=True)
class AskedCalls:
    """What one call of `call_tool` or `call_tools` asks for. `line`: where the program does so."""

    calls: Sequence[Mapping[str, Any]]
    parallel: int
    is_list: bool
    line: int | None

    def answer(self, answers: Sequence[object]) -> object:
        """Return what the function returns."""
        return list(answers) if self.is_list else answers[0]


def asked_calls(function: str, positional: Sequence[Any], named: Mapping[str, Any], line: int | None) -> AskedCalls:
    """Return what a function of the host was called for. Raises TypeError, with the words of Python."""
    try:
        if function == ONE:
            return AskedCalls([_one(*positional, **named)], 1, is_list=False, line=line)
        calls, parallel = _several(*positional, **named)
        return AskedCalls(calls, parallel, is_list=True, line=line)
    except TypeError as error:
        raise TypeError(str(error).replace("_one()", f"{ONE}()").replace("_several()", f"{SEVERAL}()")) from None


def host_function(name: str) -> Callable[[], None]:
    """Return something that the engine takes for the host's function of this name. It is never called."""

    def function() -> None:
        raise NotImplementedError

    function.__name__ = name
    return function


def log_text(value: object, most: int) -> str:
    """Return a value as a line of the log, of bounded length however often it holds the same part."""
    if isinstance(value, str):
        return value
    try:
        plain_json(value, most)
    except NotPlain:
        return reprlib.repr(value)
    return repr(value)


def _one(server: object, tool: object, args: object = None) -> dict[str, object]:
    return _call({"server": server, "tool": tool, "args": args})


def _several(calls: object, *, max_parallel: object = 1) -> tuple[list[dict[str, object]], int]:
    if not isinstance(calls, list | tuple):
        raise TypeError("call_tools() takes a list of {server, tool, args}")
    if isinstance(max_parallel, bool) or not isinstance(max_parallel, int) or max_parallel < 1:
        raise TypeError("max_parallel is a positive integer")
    return [_call(each) for each in calls], max_parallel


def _call(given: object) -> dict[str, object]:
    if not isinstance(given, dict) or not given.keys() <= {"server", "tool", "args"}:
        raise TypeError("a call is {server, tool, args}")
    server, tool, args = given.get("server"), given.get("tool"), given.get("args")
    if not isinstance(server, str) or not isinstance(tool, str):
        raise TypeError("server and tool are strings")
    if args is not None and not isinstance(args, dict):
        raise TypeError("args is an object with the arguments by name")
    return {"server": server, "tool": tool, "args": {} if args is None else args}
