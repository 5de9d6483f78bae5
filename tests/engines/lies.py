"""Workers that lie, as programs that are started in place of one.

Each begins as a worker does, as far as it says: `READY`, then it has read what to run (`TOLD`), and then it has said
which tools are named (`NAMED`).
"""

from pathlib import Path
from typing import Final

from mcpguard.engines.engines import VERSION

READY: Final = f"""\
import os, sys, time

def say(line):
    os.write(1, line.encode() + b"\\n")

NAMES = '{{"names":[]}}'
CALL = '{{"call":[{{"server":"a","tool":"b","args":{{}}}}],"parallel":1,"line":1}}'
FAILED = '{{"failed":{{"code":"RUNTIME_ERROR","message":"","line":1}}}}'
say('{{"ready":"{VERSION}"}}')
"""
TOLD: Final = f"{READY}sys.stdin.readline()\n"
NAMED: Final = f"{TOLD}say(NAMES)\nsys.stdin.readline()\n"
STAYS: Final = "\ntime.sleep(10_000)\n"
SILENT: Final = {
    "half a line": NAMED + """os.write(1, b'{"value"')""",
    "nothing": NAMED,
    "no names": TOLD,
    "the end of its output": NAMED + "os.close(1); os.close(2)",
}
"""Those that write nothing more, and stay."""
NO_JSON: Final = {
    "garbage": NAMED + r"os.write(1, b'\x00\xff{[\n')",
    "two values for one key": NAMED + """say('{"value":1,"value":2}')""",
    "no number": NAMED + """say('{"value":NaN}')""",
    "a huge number": NAMED + """say('{"value":%s}' % ('9' * 5000))""",
    "half a character": NAMED + r"""say('{"value":"\\ud800"}')""",
    "depth": NAMED + """say('{"value":%s%s}' % ('[' * 200, ']' * 200))""",
    "many values": NAMED + """say('{"value":[%s0]}' % ('0,' * 400_000))""",
}
LARGE: Final = {
    "a value that is too large": NAMED + """say('{"value":"%s"}' % ('a' * 1_200_000))""",
    "memory": NAMED + "x = []\nwhile True: x.append(b'a' * 1_000_000)",
    "memory of two processes": NAMED + "os.fork()\nx = bytearray(b'a') * 180_000_000",
}
LIES: Final = {
    "no object": NAMED + "say('[1]')",
    "a line without an end": NAMED + "while True: os.write(1, b'a' * 65536)",
    "a value and more": NAMED + """say('{"value":1,"more":2}')""",
    "a value before its names": TOLD + """say('{"value":1}')""",
    "a state that nobody asked for": NAMED + """say('{"state":"QQ=="}')""",
    "readiness once more": NAMED + f"""say('{{"ready":"{VERSION}"}}')""",
    "names once more": NAMED + "say(NAMES)",
    "names in another form": TOLD + """say('{"names":[["a",1]]}')""",
    "names with more": TOLD + """say('{"names":[],"stubs":""}')""",
    "too many names": TOLD + """say('{"names":[%s]}' % ','.join(['["a","b"]'] * 6000))""",
    "a call before its names": TOLD + "say(CALL)",
    "a log before its names": TOLD + """say('{"log":"a"}')""",
    "a log and more": NAMED + """say('{"log":"a","more":1}')""",
    "a log that is no text": NAMED + """say('{"log":["a"]}')""",
    "a pause before its names": TOLD + """say('{"sleep":0}')""",
    "a pause that is no number": NAMED + """say('{"sleep":"1"}')""",
    "a call of nothing": NAMED + """say('{"call":[],"parallel":1,"line":1}')""",
    "a call with more": NAMED + """say(CALL.replace('{}', '{},"caller":"root"'))""",
    "a call and more": NAMED + """say(CALL.replace('"line"', '"caller":"root","line"'))""",
    "a call of a number": NAMED + """say(CALL.replace('"a"', '1'))""",
    "a call with a list": NAMED + """say(CALL.replace('{}', '[]'))""",
    "a parallel that is text": NAMED + """say(CALL.replace('"parallel":1', '"parallel":"1"'))""",
    "no calls at once": NAMED + """say(CALL.replace('"parallel":1', '"parallel":0'))""",
    "a failure of the guard's": NAMED + "say(FAILED.replace('RUNTIME_ERROR', 'SERVER_NOT_ALLOWED'))",
    "a call that waits for a person": NAMED + "say(FAILED.replace('RUNTIME_ERROR', 'HOLD_WAITING'))",
    "an answer that was withheld": NAMED + "say(FAILED.replace('RUNTIME_ERROR', 'ANSWER_WITHHELD'))",
    "a failure of an engine that is missing": NAMED + "say(FAILED.replace('RUNTIME_ERROR', 'ENGINE_UNAVAILABLE'))",
    "a failure of no kind": NAMED + "say(FAILED.replace('RUNTIME_ERROR', 'X'))",
    "a failure at a line that is text": NAMED + """say(FAILED.replace('"line":1', '"line":"1"'))""",
    "a failure and more": NAMED + """say(FAILED.replace('"line"', '"more":1,"line"'))""",
    "an endless log": NAMED + """while True: say('{"log":"a"}')""",
    "an endless log of nothing": NAMED + """while True: say('{"log":""}')""",
    "its own death": NAMED + "os.kill(os.getpid(), 9)",
}
STUBBORN: Final = (
    "import signal\nfor each in (signal.SIGTERM, signal.SIGHUP): signal.signal(each, signal.SIG_IGN)\n"
    + NAMED
    + "if not os.fork():\n    os.setsid()\n    time.sleep(10_000)\n"
    + """say('{"value":1}')"""
    + STAYS
)
"""Ignores signals, and leaves a process of a session of its own."""
LOOKING: Final = (
    NAMED
    + """\
import json, socket
found = [path for path in PATHS if os.path.exists(path)]
try:
    socket.create_connection(("127.0.0.1", 1), 1)
except OSError as error:
    found.append(error.errno)
found.append(sorted(os.environ))
say(json.dumps({"value": found}))
"""
    + STAYS
)
"""Tells what of `PATHS` it sees, what came of a connection, and its environment."""


def lying(folder: Path, source: str) -> Path:
    """The file of a worker that is this program."""
    worker = folder / "worker" / "lying.py"
    worker.parent.mkdir(exist_ok=True)
    worker.write_text(source)
    return worker
