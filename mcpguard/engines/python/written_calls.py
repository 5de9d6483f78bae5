"""Finds the calls that are written out in a program, and how it waits for them.

A part of the worker, which the guard does not import: the source is hostile, and so is whatever it does to the parser.

Rules kept here:
1. Only what is written out counts: `call_tool("server", "tool", {…})`, and the same as an object for `call_tools`.
   Other ways to call a tool are not found; what is decided when a call is made holds for these as well.
2. A call is awaited if it stands behind `await`, or among the arguments of `asyncio.gather`. Every other one is
   answered at once.
"""

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

ONE: Final = "call_tool"
SEVERAL: Final = "call_tools"
_LONGEST: Final = 1024
"""Characters of a name; a longer one is no tool's."""
Range = tuple[int, int]
"""Where an expression begins and ends, in bytes of the source."""


@dataclass(frozen=True)
class WrittenCall:
    """A call of which server and tool are written out. `args` is None where they are not written out as an object."""

    server: str
    tool: str
    line: int
    args: ast.Dict | None


@dataclass(frozen=True)
class WrittenCalls:
    """What is written out in a program. `are_ours`: none of the functions of the host has another meaning in it."""

    calls: tuple[WrittenCall, ...] = ()
    awaited: frozenset[Range] = field(default_factory=frozenset)
    are_ours: bool = True


def written_calls(source: str) -> WrittenCalls:
    """Return what is written out in a program; nothing where this parser does not take it."""
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return WrittenCalls()
    found = list[WrittenCall]()
    for node in nodes:
        match node:
            case ast.Call(func=ast.Name(id=name)) if name == ONE:
                found += _of_one(node)
            case ast.Call(func=ast.Name(id=name)) if name == SEVERAL:
                found += _of_several(node)
            case _:
                pass
    begins = [0]
    for line in source.encode().splitlines(keepends=True):
        begins.append(begins[-1] + len(line))
    awaited = frozenset(_range(each, begins) for node in nodes for each in _awaited(node))
    ordered = tuple(sorted(found, key=lambda each: each.line))
    return WrittenCalls(ordered, awaited, not {ONE, SEVERAL} & set(_defined(nodes)))


def is_written_out(node: ast.Dict) -> bool:
    """Tell whether all keys of an object are written out as strings."""
    return all(isinstance(key, ast.Constant) and isinstance(key.value, str) for key in node.keys)


def _of_one(call: ast.Call) -> Iterator[WrittenCall]:
    if not any(isinstance(each, ast.Starred) for each in call.args):
        given = dict(zip(("server", "tool", "args"), call.args, strict=False))
        yield from _written(given | {each.arg: each.value for each in call.keywords if each.arg is not None}, call)


def _of_several(call: ast.Call) -> Iterator[WrittenCall]:
    match [*call.args, *(each.value for each in call.keywords if each.arg == "calls")]:
        case [ast.List(elts=members) | ast.Tuple(elts=members)]:
            pass
        case [ast.ListComp(elt=member)]:
            members = [member]
        case _:
            members = []
    for each in members:
        if isinstance(each, ast.Dict) and is_written_out(each):
            names = [str(key.value) for key in each.keys if isinstance(key, ast.Constant)]
            yield from _written(dict(zip(names, each.values, strict=True)), each)


def _written(given: Mapping[str, ast.expr], at: ast.expr) -> Iterator[WrittenCall]:
    match given.get("server"), given.get("tool"), given.get("args"):
        case ast.Constant(value=str() as server), ast.Constant(value=str() as tool), args:
            if max(len(server), len(tool)) <= _LONGEST:
                if args is None or (isinstance(args, ast.Constant) and args.value is None):
                    args = ast.Dict([], [])
                yield WrittenCall(server, tool, at.lineno, args if isinstance(args, ast.Dict) else None)
        case _:
            pass


def _awaited(node: ast.AST) -> Iterator[ast.Call]:
    """Yield the calls that this node waits for."""
    match node:
        case ast.Await(value=ast.Call() as call):
            yield call
        case ast.Call(func=ast.Attribute(value=ast.Name(id="asyncio"), attr="gather"), args=given):
            for each in given:
                match each.value if isinstance(each, ast.Starred) else each:
                    case ast.Call() as call:
                        yield call
                    case ast.ListComp(elt=ast.Call() as call) | ast.GeneratorExp(elt=ast.Call() as call):
                        yield call
                    case ast.List(elts=members) | ast.Tuple(elts=members):
                        yield from (call for call in members if isinstance(call, ast.Call))
                    case _:
                        pass
        case _:
            pass


def _range(node: ast.expr, begins: list[int]) -> Range:
    last, at = node.end_lineno or node.lineno, node.end_col_offset or 0
    return begins[node.lineno - 1] + node.col_offset, begins[last - 1] + at


def _defined(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yield the names that a program gives a meaning of its own."""
    for node in nodes:
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name):
                yield name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.alias(name=name, asname=given):
                yield given or name.partition(".")[0]
            case ast.ExceptHandler(name=str() as name) | ast.MatchAs(name=str() as name):
                yield name
            case ast.MatchStar(name=str() as name) | ast.MatchMapping(rest=str() as name):
                yield name
            case _:
                pass
