"""Makes a copy of a program's calls that the type checker can compare with the stubs of their tools.

A part of the worker, which the guard does not import.

Rules kept here:
1. The copy has the calls that are written out, one below the other, in which every value that is not written out is
   `Any`. So nothing is refused for what a value might turn out to be.
2. The copy is checked and thrown away. What runs is the program as it came.
"""

import ast
import re
from collections.abc import Iterable, Mapping
from typing import Final

from mcpguard.engines.python.written_calls import WrittenCall, is_written_out

ANYTHING: Final = "anything"
"""The name for a value that is not known yet; the stubs declare it as `Any`."""
LARGEST: Final = 1e300
"""Of a number that is checked: beyond come the numbers that JSON does not have, or Python does not write."""
MOST_REMARKS: Final = 5
_REMARK: Final = re.compile(r"[^:\n]+:(\d+):\d+: error\[([a-z-]+)\] (.*)")
_GENERAL: Final = "Argument to function"
_FUNCTION: Final = re.compile(r"function `(\w+)`")
_TYPE: Final = re.compile(r" (?:for|in|on) TypedDict `\w+`(?: constructor)?")
_BEGUN: Final = "Invalid argument to key"


class CheckedCopy:
    """The copy. `functions` have the signatures of tools, by server and tool."""

    def __init__(self, calls: Iterable[WrittenCall], functions: Mapping[tuple[str, str], str]) -> None:
        self._names = {function: f"{server}:{tool}" for (server, tool), function in functions.items()}
        self._lines = [0]
        self._parts: list[str] = []
        for call in calls:
            function = functions.get((call.server, call.tool))
            if function is not None and call.args is not None and is_written_out(call.args):
                self._begin(call.line)
                self._parts.append(f"{function}('', '', ")
                self._write(call.args)
                self._parts.append(")")

    @property
    def text(self) -> str:
        """The copy as a program; empty without any call."""
        return "".join(self._parts)

    def remarks(self, display: str) -> tuple[str, int | None]:
        """Return the remarks of the type checker, as remarks about the program, and the line of the first one."""
        found = [(self._line(number), said) for number, _, said in _REMARK.findall(display)]
        # The general remark about a call comes with others that name the argument; it counts only where there are none.
        special = [each for each in found if not each[1].startswith(_GENERAL)] or found
        told = [*dict.fromkeys(f"line {line}: {self._readable(text)}" for line, text in special)]
        if not told:
            return "the arguments of a call do not fit the schema of its tool", None
        more = [f"and {len(told) - MOST_REMARKS} more"] if len(told) > MOST_REMARKS else []
        return "; ".join([*told[:MOST_REMARKS], *more]), special[0][0]

    def _readable(self, text: str) -> str:
        text = _FUNCTION.sub(lambda match: self._names.get(match[1], match[0]), text)
        return _TYPE.sub("", text).replace(_BEGUN, "Invalid value of", 1).rstrip()

    def _line(self, number: str) -> int:
        return self._lines[min(int(number), len(self._lines)) - 1]

    def _begin(self, line: int) -> None:
        self._parts.append("\n")
        self._lines.append(line)

    def _write(self, node: ast.expr) -> None:
        match node:
            case ast.Constant(value=str() | None as value):
                self._parts.append(ascii(value))
            case ast.Constant(value=int() | float() as number) if abs(number) <= LARGEST:
                self._parts.append(repr(number))
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)) if number <= LARGEST:
                self._parts.append(f"-{number!r}")
            case ast.Dict() if is_written_out(node):
                self._write_members(node)
            case ast.List(elts=members) | ast.Tuple(elts=members) if not any(map(_is_starred, members)):
                self._parts.append("[")
                for each in members:
                    self._write(each)
                    self._parts.append(", ")
                self._parts.append("]")
            case _:
                self._parts.append(ANYTHING)

    def _write_members(self, node: ast.Dict) -> None:
        self._parts.append("{")
        for key, value in zip(node.keys, node.values, strict=True):
            assert isinstance(key, ast.Constant)  # noqa: S101 - it is written out
            # Each on a line of its own, so that a remark about it leads back to the program's line.
            self._begin(key.lineno)
            self._parts.append(f"{key.value!a}: ")
            self._write(value)
            self._parts.append(", ")
        self._parts.append("}")


def _is_starred(node: ast.expr) -> bool:
    return isinstance(node, ast.Starred)
