"""`mcpguard serve`, by a guard that also says how it is inside: a question on standard input, an answer in JSON on
standard output, each a line.

It answers on the guard's own event loop and takes no task for it, so that what it counts is the product's alone.
"""

import argparse
import asyncio
import gc
import json
import os
import re
import signal
import sys
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

from mcpguard.app.lifespan import Running
from mcpguard.app.listeners import ListenAddresses
from mcpguard.app.serve import serve
from mcpguard.cli.serve import announcement
from mcpguard.settings.load import load


def state(now: Running, where: ListenAddresses) -> dict[str, Any]:
    """What is going on. Numbers in the names of tasks are left out, so that those of one kind have one name."""
    tasks = Counter(re.sub(r"\d+", "#", task.get_name()) for task in asyncio.all_tasks())
    return {
        "tasks": tasks,
        "sessions": len(where.door.sessions),
        "streams": len(where.streams._talks),
        "subscriptions": where.door._methods._listening._open,
        "entries": now.ledger.open_entries,
        "servers": {server.name: server.state for server in now.guard.status().servers},
    }


def objects() -> dict[str, int]:
    """What the collector knows of, by type."""
    gc.collect()
    return Counter(f"{type(each).__module__}.{type(each).__qualname__}" for each in gc.get_objects())


def _asked(now: Running, where: ListenAddresses) -> None:
    questions = os.read(0, 4096).split()
    if not questions:  # whoever asked has ended, however that came about
        asyncio.get_running_loop().remove_reader(0)
        signal.raise_signal(signal.SIGTERM)
    for question in questions:
        sys.stdout.write(json.dumps(state(now, where) if question == b"state" else objects()) + "\n")
        sys.stdout.flush()


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("serve")
    options.add_argument("--listen")
    options.add_argument("--data-dir", type=Path)
    options.add_argument("--config", type=Path)
    given = options.parse_args()
    found = load({"listen": given.listen, "data_dir": given.data_dir}, os.environ, given.config)

    def announce(now: Running, where: ListenAddresses) -> None:
        sys.stderr.write("\n".join(announcement(found, now, where)) + "\n")
        sys.stderr.flush()
        asyncio.get_running_loop().add_reader(0, partial(_asked, now, where))

    serve(found, lambda: found, announce)


if __name__ == "__main__":
    main()
