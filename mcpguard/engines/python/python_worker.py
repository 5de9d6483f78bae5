"""The worker that runs one program in Python. The guard starts it in a sandbox, and never imports it.

It speaks JSON, one message a line, and says `{"ready": VERSION}` first. Then it reads what to run: `source` and
`input`, or the `state` in which an earlier worker was suspended with the `answer` to its calls; and the `limits`.

    it writes                                                           it reads
    {"names": [[server, tool], …]}                                      {"stubs": TEXT, "typed": [place, …]}
    {"call": [{server, tool, args}, …], "parallel": N, "line": N}       {"answer": […]} or {"suspend": true}
    {"sleep": SECONDS}                                                  {"slept": true}
    {"log": TEXT}
    {"value": …}, {"failed": {code, message, line}} or {"state": TEXT}, and ends

Rules kept here:
1. A program sees `call_tool`, `call_tools`, `log`, `print` and `input`, and nothing of the worker or its host. It may
   sleep; the guard's clock says when that is over.
2. Before anything runs, the tools that it names literally are told, and a copy of its calls is compared with the stubs
   that the guard sends. What runs is the program as it came.
3. Calls that are awaited together are made together.
4. What leaves is JSON of bounded size: a value that is not is SERIALIZATION_ERROR.
5. Limits that the engine knows are its own. All others are the guard's, who believes nothing that is written here.
"""

import base64
import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, BinaryIO, Final

from pydantic_monty import (
    FunctionSnapshot,
    FutureSnapshot,
    Monty,
    MontyComplete,
    MontyError,
    MontySession,
    MontyTypingError,
    NameLookupSnapshot,
    ResourceLimits,
    __version__,
)

from mcpguard.engines.python.checked_copy import CheckedCopy
from mcpguard.engines.python.host_functions import FUNCTIONS, AskedCalls, asked_calls, host_function, log_text
from mcpguard.engines.python.plain_values import NotPlain, OversizedValue, plain_json
from mcpguard.engines.python.program_failures import WITHIN, ProgramFailed, failure_of
from mcpguard.engines.python.written_calls import ONE, WrittenCalls, written_calls

Snapshot = FunctionSnapshot | NameLookupSnapshot | FutureSnapshot | MontyComplete
SCRIPT: Final = "program.py"
WARMED_UP: Final = "anything: int\n"


class ProgramSuspended(Exception):
    """The program is to go on in another worker, with the answers to these calls. `left`: those that are yet to be
    made."""

    def __init__(self, asked: Sequence[int], left: Mapping[int, AskedCalls], dump: bytes) -> None:
        super().__init__()
        calls = [[number, asdict(each)] for number, each in left.items()]
        about = json.dumps({"asked": list(asked), "left": calls}).encode()
        self.state = base64.b64encode(about + b"\n" + dump).decode()


class PythonWorker:
    """One program on its way. `reads` and `writes`: the lines from and to the guard."""

    def __init__(self, reads: BinaryIO, writes: BinaryIO) -> None:
        self._reads = reads
        self._writes = writes
        self._source = ""
        self._limits: Mapping[str, Any] = {}
        self._written = WrittenCalls()
        self._asked: dict[int, AskedCalls] = {}
        """The calls that are awaited and not made yet, by the number that the engine gave them."""
        self._until: dict[int, float] = {}
        """When the pauses that are awaited are over."""
        self._made = self._sent = self._logged = 0

    def work(self) -> None:
        """Run the one program that the guard sends."""
        with Monty(min_processes=1, max_processes=1) as pool:
            with pool.checkout(type_check=True, type_check_stubs=WARMED_UP) as session:
                session.feed_run("anything = 1")  # the first check takes several times as long as others
            self._say({"ready": __version__})
            wanted = self._heard()
            self._source, self._limits = wanted["source"], wanted["limits"]
            try:
                self._write(b'{"value":%b}' % self._run(pool, wanted))
            except ProgramSuspended as left:
                self._say({"state": left.state})
            except ProgramFailed as failed:
                self._say(failed.said)
            except (MontyError, RecursionError, MemoryError, ValueError) as error:
                self._say(failure_of(error).said)

    def _run(self, pool: Monty, wanted: Mapping[str, Any]) -> bytes:
        limits = self._limits
        self._written = written_calls(self._source)
        if "state" not in wanted:
            self._check(pool)
        given: ResourceLimits = {
            "max_feed_duration_secs": limits["seconds"],
            "max_memory": limits["memory"],
            "max_recursion_depth": limits["depth"],
            "max_suspensions": limits["steps"],
        }
        with pool.checkout(script_name=SCRIPT, limits=given) as session:
            if "state" in wanted:
                now = self._resumed(session, wanted)
            else:
                now = session.feed_start(self._source, inputs={"input": wanted["input"]}, print_callback=self._print)
            while not isinstance(now, MontyComplete):
                now = self._step(now)
            try:
                return plain_json(now.output, limits["value"])
            except NotPlain as error:
                raise ProgramFailed(error.code, f"the value {error}") from None

    def _check(self, pool: Monty) -> None:
        """Tell which tools the program names, and compare its calls with what the guard knows of these."""
        calls = self._written.calls
        names = [*dict.fromkeys((call.server, call.tool) for call in calls)]
        self._say({"names": names})
        answer = self._heard()
        functions = {names[place]: f"{ONE}__{place}" for place in answer["typed"]}
        copy = CheckedCopy(calls if self._written.are_ours else (), functions)
        if not copy.text:
            return
        with pool.checkout(type_check=True, type_check_stubs=answer["stubs"], type_check_format="concise") as session:
            try:
                session.feed_start(copy.text)  # it stops at its first call, and is left there
            except MontyTypingError as error:
                raise ProgramFailed("INVALID_ARGS", *copy.remarks(error.display())) from None

    def _resumed(self, session: MontySession, wanted: Mapping[str, Any]) -> Snapshot:
        about, _, dump = base64.b64decode(wanted["state"]).partition(b"\n")
        state = json.loads(about)
        left = {number: AskedCalls(**each) for number, each in state["left"]}
        now = session.load_snapshot(dump, print_callback=self._print)
        asked = [left.pop(number) for number in state["asked"]]
        for number, each in left.items():
            self._ask(number, each)
        return self._answered(now, dict(zip(state["asked"], asked, strict=True)), wanted["answer"])

    def _step(self, now: FunctionSnapshot | NameLookupSnapshot | FutureSnapshot) -> Snapshot:
        if isinstance(now, NameLookupSnapshot):
            name = now.variable_name
            return now.resume(value=host_function(name)) if name in FUNCTIONS else now.resume()
        if isinstance(now, FutureSnapshot):
            return self._awaited(now)
        match now.function_name:
            case _ if now.is_os_function:
                return self._of_system(now)
            case "log":
                self._log(" ".join(log_text(each, self._limits["log_line"]) for each in now.args))
                return now.resume({"return_value": None})
            case "call_tool" | "call_tools":
                return self._called(now)
            case name:
                return now.resume({"exc_type": "NameError", "message": f"name {name!r} is not defined"})

    def _called(self, now: FunctionSnapshot) -> Snapshot:
        at, is_ours = now.position, now.position.filename != WITHIN
        line = self._source.encode()[: at.start].count(b"\n") + 1 if is_ours else None
        try:
            asked = asked_calls(now.function_name, now.args, now.kwargs, line)
        except TypeError as error:
            return now.resume({"exc_type": "TypeError", "message": str(error)})
        self._ask(now.call_id, asked)
        if now.allow_eager_await or (is_ours and (at.start, at.end) in self._written.awaited):
            return now.resume({"future": ...})
        return self._made_together(now, [now.call_id])

    def _ask(self, number: int, asked: AskedCalls) -> None:
        """Take note of calls that are to be made. Raises ProgramFailed where they are too many, or too large."""
        self._made += len(asked.calls)
        if self._made > self._limits["calls"]:
            raise ProgramFailed("MAX_TOOL_CALLS_EXCEEDED", "the program makes more calls than it may", asked.line)
        try:
            self._sent += len(plain_json(asked.calls, max(0, self._limits["arguments"] - self._sent)))
        except OversizedValue as error:
            raise ProgramFailed(error.code, "all calls together send more than they may", asked.line) from None
        except NotPlain as error:
            raise ProgramFailed(error.code, f"what a call sends {error}", asked.line) from None
        self._asked[number] = asked

    def _awaited(self, now: FutureSnapshot) -> Snapshot:
        """Make the calls that the program waits for, or else wait until the first of its pauses is over."""
        pending = now.pending_call_ids
        if calls := [number for number in sorted(pending) if number in self._asked]:
            return self._made_together(now, calls)
        first = min(pending, key=lambda number: self._until.get(number, 0.0))
        self._sleep(self._until.pop(first, 0.0) - time.monotonic())
        return now.resume({first: {"return_value": None}})

    def _made_together(self, now: FunctionSnapshot | FutureSnapshot, numbers: Sequence[int]) -> Snapshot:
        asked = {number: self._asked[number] for number in numbers}
        calls = [call for each in asked.values() for call in each.calls]
        answers: Sequence[object] = []
        if calls:
            line = asked[numbers[0]].line
            self._say({"call": calls, "parallel": sum(each.parallel for each in asked.values()), "line": line})
            answer = self._heard()
            if answer.get("suspend"):
                raise self._suspended(now, numbers, line)
            answers = answer["answer"]
        for number in numbers:
            del self._asked[number]
        return self._answered(now, asked, answers)

    def _answered(self, now: Snapshot, asked: Mapping[int, AskedCalls], answers: Sequence[object]) -> Snapshot:
        found, place = dict[int, object](), 0
        for number, each in asked.items():
            found[number] = each.answer(answers[place : place + len(each.calls)])
            place += len(each.calls)
        if isinstance(now, FunctionSnapshot):
            return now.resume({"return_value": found[now.call_id]})
        if not isinstance(now, FutureSnapshot):
            raise ProgramFailed("RUNTIME_ERROR", "the program was not suspended at a call")
        return now.resume({number: {"return_value": value} for number, value in found.items()})

    def _suspended(
        self, now: FunctionSnapshot | FutureSnapshot, asked: Sequence[int], line: int | None
    ) -> ProgramSuspended | ProgramFailed:
        suspended, most = ProgramSuspended(asked, self._asked, now.dump()), self._limits["state"]
        if len(suspended.state) <= most:
            return suspended
        message = f"the program holds more than {most} bytes while a call of it has to wait"
        return ProgramFailed("LIMIT_EXCEEDED", message, line)

    def _of_system(self, now: FunctionSnapshot) -> Snapshot:
        """Answer what a program asks of its system: it may sleep, and nothing else."""
        match now.function_name:
            case "system.sleep":
                self._sleep(now.args[0])
                return now.resume({"return_value": None})
            case "system.async_sleep":
                self._until[now.call_id] = time.monotonic() + now.args[0]
                return now.resume({"future": ...})
            case _:
                return now.resume_not_handled()

    def _sleep(self, seconds: float) -> None:
        self._say({"sleep": max(0.0, seconds)})
        self._heard()

    def _print(self, _stream: str, text: str) -> None:
        for line in text.splitlines():
            if line:
                self._log(line)

    def _log(self, text: str) -> None:
        """Log a line, unless the log is full: the guard has said so after the last one."""
        limits = self._limits
        if self._logged <= limits["log"]:
            # A little longer than it may be, so that the guard sees that it was cut.
            line = text[: limits["log_line"] + 1]
            self._logged += min(len(line.encode(errors="replace")), limits["log_line"]) + limits["of_line"]
            self._say({"log": line})

    def _heard(self) -> dict[str, Any]:
        heard: dict[str, Any] = json.loads(self._reads.readline())
        return heard

    def _say(self, said: Mapping[str, object]) -> None:
        self._write(json.dumps(said, ensure_ascii=False, separators=(",", ":")).encode(errors="replace"))

    def _write(self, line: bytes) -> None:
        self._writes.write(line + b"\n")
        self._writes.flush()


if __name__ == "__main__":
    # Streams of its own: what a library prints must not end up among the messages.
    reads, writes = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    PythonWorker(reads, writes).work()
