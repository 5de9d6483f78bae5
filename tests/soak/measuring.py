"""How a guard is: from outside by /proc, from inside by what it answers (see `guarded.py`)."""

import json
import re
import subprocess
import threading
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


class Inside:
    """What the guard says of itself."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._turn = threading.Lock()

    def state(self) -> dict[str, Any]:
        return self._ask("state")

    def objects(self) -> Counter[str]:
        return Counter(self._ask("objects"))

    def _ask(self, question: str) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with self._turn:
            self._process.stdin.write(question + "\n")
            self._process.stdin.flush()
            answer: dict[str, Any] = json.loads(self._process.stdout.readline())
            return answer


@dataclass(frozen=True)
class Figures:
    """One look at a guard."""

    rss_kib: int
    tasks: Counter[str]
    fds: Counter[str]
    children: int
    zombies: int
    sessions: int
    streams: int
    subscriptions: int
    entries: int
    servers: dict[str, str] = field(default_factory=dict)

    def more_than(self, before: "Figures") -> dict[str, Any]:
        """What there is now that there was not before; empty when the guard is as it was."""
        grown: dict[str, Any] = {
            "tasks": dict(self.tasks - before.tasks),
            "fds": dict(self.fds - before.fds),
            "children": max(0, self.children - before.children),
            "zombies": self.zombies,
            "sessions": self.sessions,
            "streams": self.streams,
            "subscriptions": self.subscriptions,
            "entries": self.entries,
        }
        away = {name: state for name, state in self.servers.items() if state != "ready"}
        return {what: found for what, found in grown.items() if found} | ({"away": away} if away else {})


def figures(pid: int, inside: Inside) -> Figures:
    state = inside.state()
    processes = [_status(child) for child in children(pid)]
    zombies = sum(status.get("State", "").startswith("Z") for status in processes)
    return Figures(
        rss_kib=int(_status(pid)["VmRSS"].split()[0]),
        tasks=Counter(state["tasks"]),
        fds=_descriptors(pid),
        children=len(processes) - zombies,
        zombies=zombies,
        sessions=state["sessions"],
        streams=state["streams"],
        subscriptions=state["subscriptions"],
        entries=state["entries"],
        servers=state["servers"],
    )


def children(pid: int) -> set[int]:
    """Of all its threads."""
    found: set[int] = set()
    for thread in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            found.update(map(int, thread.read_text().split()))
    return found


def _status(pid: int) -> dict[str, str]:
    """Empty for a process that is gone."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return {}
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def _descriptors(pid: int) -> Counter[str]:
    """How many of each kind: sockets, pipes, and files by their name."""
    found: Counter[str] = Counter()
    for link in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(OSError):
            found[re.sub(r":\[\d+\]$", "", str(link.readlink()))] += 1
    return found
