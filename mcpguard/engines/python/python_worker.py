"""The worker that runs one program in Python. The guard starts it in a sandbox, and never imports it.

It speaks JSON, one message a line, and says `{"ready": VERSION}` first. Then it reads what to run: `source` and
`input`, or the `state` in which an earlier worker was suspended with the `answer` to its call; and the `limits`.

    it writes                                                it reads
    {"names": [[server, tool], …]}                           {"stubs": TEXT, "typed": [place, …]}
    {"call": [{server, tool, args}, …], "parallel": N}       {"answer": …} or {"suspend": true}
    {"log": TEXT}
    {"value": …}, {"failed": {code, message, line}} or {"state": BASE64}, and ends

Rules kept here:
1. A program sees `call_tool`, `call_tools`, `log`, `print` and `input`, and nothing of the worker or its host.
2. Before anything runs, the tools that it names literally are told. A literal call with a display of its arguments is
   compared with the stub of that tool, if the guard has sent one.
3. What leaves is JSON: a value that is not is SERIALIZATION_ERROR.
4. Limits that the engine knows are its own. All others are the guard's, who believes nothing that is written here.
"""

import ast
import base64
import json
import re
import sys
from collections.abc import Mapping
from typing import Any, NamedTuple, TextIO

from pydantic_monty import (
    FunctionSnapshot,
    Monty,
    MontyComplete,
    MontyCrashedError,
    MontyError,
    MontyRuntimeError,
    MontySession,
    MontySyntaxError,
    MontyTypingError,
    NameLookupSnapshot,
    ResourceLimits,
    __version__,
)

Snapshot = FunctionSnapshot | NameLookupSnapshot | MontyComplete | Any
OUT_OF_TIME = "time limit exceeded"
OUT_OF_MEMORY = ("memory limit exceeded", "exceeded its memory limit")
TYPED = "__"
"""Stands between `call_tool` and the place of a tool among the names, in the name of its typed form."""


SCRIPT = "program.py"
_REMARK = re.compile(r"^program\.py:(\d+):\d+: error\[([a-z-]+)\] (.*)$", re.MULTILINE)
_OF_CALLS = frozenset(
    {
        "invalid-argument-type",
        "invalid-key",
        "missing-argument",
        "missing-typed-dict-key",
        "too-many-positional-arguments",
        "unknown-argument",
    }
)


class LiteralCall(NamedTuple):
    """A call whose tool is written down. `ends`: where the name of the function ends, in bytes; `has_display`: whether
    the arguments are written down as a display, too."""

    server: str
    tool: str
    ends: int
    has_display: bool


def literal_calls(source: str) -> list[LiteralCall]:
    """Return the calls of a program whose tools are written down. Empty for what Python cannot read."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    begins = [0]
    for line in source.encode().splitlines(keepends=True):
        begins.append(begins[-1] + len(line))
    found = list[LiteralCall]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "call_tool":
            words = [each.value for each in node.args[:2] if isinstance(each, ast.Constant)]
            at = node.func
            if len(words) == 2 and isinstance(words[0], str) and isinstance(words[1], str) and at.end_lineno:
                ends = begins[at.end_lineno - 1] + (at.end_col_offset or 0)
                has_display = len(node.args) == 3 and isinstance(node.args[2], ast.Dict)
                found.append(LiteralCall(words[0], words[1], ends, has_display))
        elif isinstance(node, ast.Dict):  # as call_tools takes them
            said = {
                key.value: value.value
                for key, value in zip(node.keys, node.values, strict=True)
                if isinstance(key, ast.Constant) and isinstance(value, ast.Constant)
            }
            server, tool = said.get("server"), said.get("tool")
            if isinstance(server, str) and isinstance(tool, str):
                found.append(LiteralCall(server, tool, 0, has_display=False))
    return found


def refuse_calls(remarks: str) -> None:
    """Raise ProgramFailed for a call with arguments that its tool does not take.

    Nothing else that the check remarks counts: a program may be right in ways that no type can say.
    """
    about = [(int(line), said) for line, rule, said in _REMARK.findall(remarks) if rule in _OF_CALLS]
    if about:
        said = "; ".join(f"line {line}: {said}" for line, said in about)
        raise ProgramFailed("INVALID_ARGS", re.sub(rf"call_tool{TYPED}\d+", "call_tool", said), about[0][0])


class ProgramFailed(Exception):
    """The program ended without a value."""

    def __init__(self, code: str, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.said = {"code": code, "message": message, "line": line}


class ProgramSuspended(Exception):
    """The program is to go on in another worker."""

    def __init__(self, state: bytes) -> None:
        super().__init__()
        self.state = state


class PythonWorker:
    """One program on its way. `reads` and `writes`: the lines from and to the guard."""

    def __init__(self, reads: TextIO, writes: TextIO) -> None:
        self._reads = reads
        self._writes = writes

    def work(self) -> None:
        """Run the one program that the guard sends."""
        with Monty(min_processes=1, max_processes=1) as pool:
            self._say({"ready": __version__})
            wanted = json.loads(self._reads.readline())
            try:
                self._say({"value": self._run(pool, wanted)})
            except ProgramSuspended as left:
                self._say({"state": base64.b64encode(left.state).decode()})
            except ProgramFailed as failed:
                self._say({"failed": failed.said})
            except (MontyError, RecursionError) as error:
                self._say({"failed": self._failure(error).said})

    def _run(self, pool: Monty, wanted: Mapping[str, Any]) -> object:
        given = wanted["limits"]
        limits: ResourceLimits = {
            "max_feed_duration_secs": given["seconds"],
            "max_memory": given["memory"],
            "max_recursion_depth": given["depth"],
            "max_suspensions": given["steps"],
        }
        if "state" in wanted:
            with pool.checkout(script_name=SCRIPT, limits=limits) as session:
                return self._go_on(session, wanted)
        source, stubs = self._named(wanted["source"])
        inputs = {"input": wanted["input"]}
        typing: dict[str, Any] = {"type_check": True, "type_check_stubs": stubs, "type_check_format": "concise"}
        with pool.checkout(script_name=SCRIPT, limits=limits, **typing) as session:
            try:
                now = session.feed_start(source, inputs=inputs, print_callback=self._print)
            except MontyTypingError as error:
                refuse_calls(error.display())
            else:
                return self._until_value(now)
        with pool.checkout(script_name=SCRIPT, limits=limits) as session:
            return self._until_value(session.feed_start(source, inputs=inputs, print_callback=self._print))

    def _go_on(self, session: MontySession, wanted: Mapping[str, Any]) -> object:
        now = session.load_snapshot(base64.b64decode(wanted["state"]), print_callback=self._print)
        if not isinstance(now, FunctionSnapshot):
            raise ProgramFailed("RUNTIME_ERROR", "the program was not suspended at a call")
        found = wanted["answer"]
        is_list = now.function_name == "call_tools"
        return self._until_value(now.resume({"return_value": found if is_list else found[0]}))

    def _until_value(self, now: Snapshot) -> object:
        while not isinstance(now, MontyComplete):
            now = self._step(now)
        try:
            return _json(now.output, "the value")
        except TypeError as error:
            raise ProgramFailed("SERIALIZATION_ERROR", str(error)) from None

    def _named(self, source: str) -> tuple[str, str]:
        """Tell which tools a program names; return it with its typed calls renamed, and their stubs."""
        calls = literal_calls(source)
        names = [*dict.fromkeys((call.server, call.tool) for call in calls)]
        self._say({"names": names})
        answer = json.loads(self._reads.readline())
        typed = {names[place] for place in answer["typed"]}
        # From the last to the first, so that no place moves before it is used.
        written = source.encode()
        for call in sorted(calls, key=lambda call: -call.ends):
            if (call.server, call.tool) in typed and call.has_display:
                name = f"{TYPED}{names.index((call.server, call.tool))}".encode()
                written = written[: call.ends] + name + written[call.ends :]
        return written.decode(), answer["stubs"]

    def _step(self, now: Snapshot) -> Snapshot:
        if isinstance(now, NameLookupSnapshot):
            return now.resume()
        if not isinstance(now, FunctionSnapshot):
            raise ProgramFailed("RUNTIME_ERROR", "a program waits for nothing but its calls")
        if now.is_os_function or now.object_id is not None:
            return now.resume_not_handled()
        match now.function_name:
            case "log":
                self._say({"log": " ".join(each if isinstance(each, str) else repr(each) for each in now.args)})
                return now.resume({"return_value": None})
            case "call_tool" | "call_tools":
                return self._called(now)
            case name if name.startswith(f"call_tool{TYPED}"):
                return self._called(now)
            case name:
                return now.resume({"exc_type": "NameError", "message": f"name {name!r} is not defined"})

    def _called(self, now: FunctionSnapshot) -> Snapshot:
        several = now.function_name == "call_tools"
        try:
            calls, parallel = _several(*now.args, **now.kwargs) if several else (_one(*now.args, **now.kwargs), 1)
        except (TypeError, ValueError, RecursionError) as error:
            message = str(error).replace("_one()", "call_tool()").replace("_several()", "call_tools()")
            return now.resume({"exc_type": "TypeError", "message": message})
        self._say({"call": calls, "parallel": parallel})
        answer = json.loads(self._reads.readline())
        if answer.get("suspend"):
            raise ProgramSuspended(now.dump())
        found = answer["answer"]
        return now.resume({"return_value": found if several else found[0]})

    def _print(self, _stream: str, text: str) -> None:
        if text.strip("\n"):
            self._say({"log": text.rstrip("\n")})

    def _failure(self, error: MontyError | RecursionError) -> ProgramFailed:
        message = str(error)
        line = _last_line(error) if isinstance(error, MontySyntaxError | MontyRuntimeError) else None
        if isinstance(error, MontySyntaxError):
            return ProgramFailed("SYNTAX_ERROR", message, line)
        if isinstance(error, RecursionError):
            return ProgramFailed("SERIALIZATION_ERROR", "the value is nested too deeply")
        if OUT_OF_TIME in message or (isinstance(error, MontyCrashedError) and error.timed_out):
            return ProgramFailed("TIMEOUT", "the program ran for longer than it may", line)
        if any(words in message for words in OUT_OF_MEMORY):
            return ProgramFailed("LIMIT_EXCEEDED", "the program uses more memory than it may", line)
        return ProgramFailed("RUNTIME_ERROR", message, line)

    def _say(self, said: Mapping[str, object]) -> None:
        self._writes.write(json.dumps(said, ensure_ascii=True, allow_nan=False, separators=(",", ":")) + "\n")
        self._writes.flush()


def _one(server: object, tool: object, args: object = None) -> list[dict[str, object]]:
    return [_call({"server": server, "tool": tool, "args": args})]


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
    return {"server": server, "tool": tool, "args": _json(args or {}, "args")}


def _json(value: object, named: str) -> object:
    """Return the value, if it is JSON."""
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise TypeError(f"{named} cannot be written as JSON: {error}") from None
    return value


def _last_line(error: MontySyntaxError | MontyRuntimeError) -> int | None:
    frames = error.traceback()
    return frames[-1].line if frames else None


if __name__ == "__main__":
    PythonWorker(sys.stdin, sys.stdout).work()
