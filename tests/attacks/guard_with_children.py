"""`mcpguard serve` by a guard that, once it listens, starts a process that tries the operator's socket.

This version of the guard starts no processes at all; the ones that later versions start must not inherit its authority.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

from mcpguard.app.lifespan import Running
from mcpguard.app.listeners import ListenAddresses
from mcpguard.app.serve import serve
from mcpguard.cli.serve import announcement
from mcpguard.settings.load import load

KNOCK = Path(__file__).with_name("knock.py")
HOW = {
    "a child": (),
    "a child of a child": ("sh", "-c", '"$@"; true', "sh"),
    "a child in a session of its own": ("setsid", "--wait"),
    "an orphan": ("sh", "-c", '("$@" &)', "sh"),
    "an orphan of an orphan in a session of its own": ("sh", "-c", '(setsid sh -c \'("$@" &)\' sh "$@" &)', "sh"),
    "a child of a child that is far away": (
        "sh",
        "-c",
        'env -i setsid --wait sh -c "\\"\\$@\\"; true" sh "$@"; true',
        "sh",
    ),
}


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("serve")
    options.add_argument("--listen")
    options.add_argument("--data-dir", type=Path)
    options.add_argument("--note")
    options.add_argument("--how", choices=HOW)
    given = options.parse_args()
    found = load({"listen": given.listen, "data_dir": given.data_dir}, os.environ, None)
    children = []

    def announce(now: Running, where: ListenAddresses) -> None:
        sys.stderr.write("\n".join(announcement(found, now, where)) + "\n")
        sys.stderr.flush()
        command = [*HOW[given.how], sys.executable, KNOCK, where.operator, given.note]
        children.append(subprocess.Popen(command, stdin=-3, stdout=-3, stderr=-3))

    serve(found, lambda: found, announce)


if __name__ == "__main__":
    main()
