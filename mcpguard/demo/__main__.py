"""`python -m mcpguard.demo honest` and `python -m mcpguard.demo poisoned`.

Exit codes: 0 when the client has ended the conversation, or for help; 2 for an unknown server, or closed streams.
"""

import os
import sys
from collections.abc import Mapping, Sequence

from mcpguard.demo.notes import Notes
from mcpguard.demo.stdio import serve
from mcpguard.demo.weather import Weather

CHANGED = "MCPGUARD_DEMO_CHANGED"
HELP = f"""\
usage: python -m mcpguard.demo honest | poisoned

Two small MCP servers to try mcpguard with. They speak MCP on their standard streams, so it is mcpguard or an MCP
client that starts them. They read and write no file, use no network, and keep nothing when they end.

  honest    "notes": a few notes to list, read, write and delete. It is what it says.
  poisoned  "weather": looks harmless, and says in many ways what a server must not say to an agent. Its tools do
            nothing. After three calls it changes the description of a tool that was clean until then; with
            {CHANGED}=1 in its environment it has the changed one from the start.
"""


def main(words: Sequence[str], environ: Mapping[str, str]) -> int:
    match words:
        case ["-h" | "--help", *_]:
            sys.stdout.write(HELP)
            return 0
        case ["honest" | "poisoned" as which]:
            if sys.stdin is None or sys.stdout is None:
                return _refused("standard input and output must be open; a client speaks through them")
            serve(Notes() if which == "honest" else Weather(changed=environ.get(CHANGED) == "1"))
            return 0
        case []:
            return _refused("say which server: honest or poisoned; --help tells what they are")
        case _:
            return _refused(f"there is no server {' '.join(words)!a}; there are honest and poisoned")


def _refused(why: str) -> int:
    if sys.stderr is not None:
        sys.stderr.write(f"mcpguard.demo: {why}\n")
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
