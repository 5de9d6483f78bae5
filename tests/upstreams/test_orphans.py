"""Processes that servers leave behind: gone when their servers are, at the latest.

A sweep kills children of the process in which it runs, so it never runs in the tests' own: a program does it.
"""

import json
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.patience import PATIENCE
from tests.process import ROOT, Served, environment, gone, run, serving, until

SWEEPER = """
import json, os, subprocess, sys, time
import anyio
from mcpguard.upstreams.process.orphans import MARK, sweep, sweep_all
from mcpguard.upstreams.process.child import Child
from mcpguard.web.gate.peer import keep_orphans

keep_orphans()

def wait(condition):
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)

def alive(pid):
    try:
        return open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False

def parent(pid):
    return int(open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[1])

def said(pid):
    return open(f"/proc/{pid}/cmdline", "rb").read()

def server(mark, daemon):
    "A server that leaves a daemon behind, and the daemon's number."
    child = Child([sys.executable, "-I", "-S", "-c", SERVER, *daemon], {"PATH": os.environ["PATH"], MARK: mark}, None)
    line = b""
    def read():
        nonlocal line
        try:
            line += os.read(child.output, 100)
        except BlockingIOError:
            pass
        return line.endswith(b"\\n")
    wait(read)
    found = int(line)
    wait(lambda: parent(found) == os.getpid())
    wait(lambda: b"sleep" in said(found) and b"fork" not in said(found))  # until then it is a copy of the server
    return child, found

def end(child):
    "As the transport does it, but for the processes of its group."
    child.close_input()
    wait(lambda: child._process.poll() is not None)
    child.close()

SERVER = '''
import os, sys, time
how = sys.argv[1:]
read, write = os.pipe()
if os.fork() == 0:
    if "session" in how:
        os.setsid()
    elif "group" in how:
        os.setpgid(0, 0)
    if os.fork() == 0:
        variables = {} if "bare" in how else dict(os.environ)
        if "lying" in how:
            variables["MCPGUARD_STARTED"] = "guessed"
        os.write(write, b"%d" % os.getpid())
        os.closerange(0, 3)
        os.execve(sys.executable, [sys.executable, "-I", "-S", "-c", "import time; time.sleep(3600)"], variables)
    os._exit(0)
os.wait()
print(os.read(read, 100).decode(), flush=True)
os.close(write)
sys.stdin.read()
'''
"""


def swept(body: str) -> object:
    """What a program prints that does this beside `SWEEPER`. Nothing of it outlives it."""
    code = f"{SWEEPER}\nasync def main():\n{textwrap.indent(textwrap.dedent(body), '    ')}\nanyio.run(main)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
        cwd=ROOT,
        env=environment({}),
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize(
    ("how", "stays"),
    [
        ([], True),
        (["group"], True),
        (["group", "bare"], True),  # still in the server's session
        (["session"], True),  # out of it, with the server's mark
        (["session", "bare"], False),
        (["session", "lying"], False),
    ],
    ids=lambda value: "-".join(value) or "plain" if isinstance(value, list) else "",
)
def test_it_may_stay_as_long_as_its_server_if_it_is_known_whose_it_is(how: list[str], stays: bool) -> None:
    found = swept(f"""
        child, daemon = server("mark", {how})
        first = sweep()
        if {not stays}:
            wait(lambda: not alive(daemon))
        during = alive(daemon), alive(child.pid), first == [daemon]
        end(child)
        sweep()
        wait(lambda: not alive(daemon))
        wait(lambda: sweep() == [])
        print(json.dumps([*during, os.path.exists(f"/proc/{{daemon}}")]))
    """)
    assert found == [stays, True, not stays, False], "alive, its server alive, killed at once, anything left"


def test_the_mark_of_one_server_is_none_of_anothers() -> None:
    """The end of one ends what it left behind, though the other runs on."""
    found = swept("""
        one, first = server("mark one", ["session"])
        two, second = server("mark two", ["session"])
        assert sweep() == []
        end(one)
        killed = sweep()
        wait(lambda: not alive(first))
        found = [killed == [first], alive(second), alive(two.pid)]
        end(two)
        sweep()
        wait(lambda: not alive(second))
        print(json.dumps(found))
    """)
    assert found == [True, True, True]


def test_to_bear_no_mark_is_no_mark() -> None:
    """Where a server's own cannot be read, what bears none is still nobody's."""
    found = swept("""
        one, daemon = server("", ["session", "bare"])
        os.environ.pop(MARK, None)
        unmarked = Child([sys.executable, "-I", "-S", "-c", "input()"], {}, None)
        killed = sweep()
        wait(lambda: not alive(daemon))
        print(json.dumps([killed == [daemon], alive(one.pid), alive(unmarked.pid)]))
    """)
    assert found == [True, True, True]


def test_a_server_is_never_swept_away() -> None:
    found = swept("""
        servers = [Child([sys.executable, "-I", "-S", "-c", "input()"], {}, None) for _ in range(3)]
        before = sweep()
        os.kill(servers[0].pid, 9)
        wait(lambda: not alive(servers[0].pid))
        print(json.dumps([before, sweep(), [alive(each.pid) for each in servers[1:]]]))
        servers[0]._process.wait()
        print(json.dumps([before, sweep(), servers[0].code, [alive(each.pid) for each in servers[1:]]]))
    """)
    assert found == [[], [], -9, [True, True]], "nor is its exit code taken away from whoever waits for it"


def test_what_has_ended_by_itself_is_reaped_and_not_called_an_orphan() -> None:
    found = swept("""
        ended = subprocess.Popen([sys.executable, "-I", "-S", "-c", "pass"])
        wait(lambda: not alive(ended.pid))
        print(json.dumps([sweep(), os.path.exists(f"/proc/{ended.pid}")]))
        ended.returncode = 0
    """)
    assert found == [[], False]


def test_a_sweep_to_the_end_finds_what_the_end_of_others_brings_to_light() -> None:
    """A daemon has started another one, which becomes ours only when the first is gone."""
    found = swept("""
        tree = "import os, time\\nif os.fork() == 0: os.setsid(); os.fork()\\ntime.sleep(3600)"
        started = subprocess.Popen([sys.executable, "-I", "-S", "-c", tree], env={})
        started.returncode = 0
        def descendants(pid):
            try:
                children = [int(each) for each in open(f"/proc/{pid}/task/{pid}/children").read().split()]
            except OSError:
                return []
            return children + [each for child in children for each in descendants(child)]
        wait(lambda: len(descendants(started.pid)) == 2)
        all_of_them = [started.pid, *descendants(started.pid)]
        await sweep_all(20)
        print(json.dumps([[alive(each) for each in all_of_them], descendants(os.getpid())]))
    """)
    assert found == [[False] * 3, []]


PLAIN = """
import json, os, sys
def daemon(name, variables):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            code = f"import os, time; open({name!r}, 'w').write(str(os.getpid())); time.sleep(3600)"
            os.closerange(0, 3)
            os.execve(sys.executable, [sys.executable, "-I", "-S", "-c", code], variables)
        os._exit(0)
    os.wait()
daemon("bare", {})
daemon("marked", dict(os.environ))
for line in sys.stdin:
    asked = json.loads(line)
    said = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "plain", "version": "1"}}
    if asked["method"] == "initialize":
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": said}), flush=True)
    elif "id" in asked:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -32601, "message": ""}}), flush=True)
"""


def number(file: Path) -> int | None:
    try:
        return int(file.read_text() or 0)
    except FileNotFoundError:
        return None


def reviewed(guard: Served, *words: str) -> None:
    done = run("server", *words, "--data-dir", guard.data_dir)
    assert done.returncode == 0, done.stderr


def nothing_stays(file: Path) -> None:
    """What an inspection left behind ends as well."""
    left = until(lambda: number(file), "it left a process behind")
    until(lambda: gone(left), "it was found")
    file.unlink()


def test_a_guard_sweeps_while_it_runs_and_when_it_stops(tmp_path: Path) -> None:
    server = {"command": sys.executable, "args": ["-I", "-S", "-c", PLAIN], "cwd": str(tmp_path)}
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"mcpServers": {"plain": server}}))
    with serving(tmp_path / "data", "--config", str(config)) as guard:
        reviewed(guard, "inspect", "plain", "--consent")
        nothing_stays(tmp_path / "bare")
        nothing_stays(tmp_path / "marked")
        reviewed(guard, "approve", "plain", "--reason", "looked at it", "--findings-read", "all")
        bare = until(lambda: number(tmp_path / "bare"), "it left a process behind")
        marked = until(lambda: number(tmp_path / "marked"), "it left another one")
        guard.until_logged("upstream", server="plain", state="ready")
        assert not gone(marked)
        until(lambda: gone(bare), "it was found")
        assert guard.until_logged("upstream.orphan", process=bare)
        assert not gone(marked), "it is known whose it is"
        guard.signal(signal.SIGTERM)
        assert guard.ended() == 0
        assert gone(marked)
