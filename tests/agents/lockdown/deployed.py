"""What is deployed, as one text for each program, system and way to the guard. Running this writes the golden files."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from mcpguard.agents.lockdown.deployment import LockableProgram, LockdownWish, TargetSystem
from mcpguard.agents.lockdown.lockable import LOCKABLE
from mcpguard.agents.lockdown.ways_around import TOKEN, token_headers
from mcpguard.agents.program import Reach

GOLDEN: Final = Path(__file__).parent / "golden"
ADDRESS: Final = "https://guard.example:8443/mcp"
WISHES: Final = {
    "url": LockdownWish(Reach(url=ADDRESS, headers=token_headers(TOKEN)), "https://guard.example:8443/registry"),
    "stdio": LockdownWish(Reach(("/opt/mcpguard/bin/mcpguard", "stdio", "--data-dir", "/var/lib/mcpguard"))),
}


def deployed(program: LockableProgram, wish: LockdownWish, system: TargetSystem) -> str:
    """Returns the text: each file with its path, each page with where it is entered."""
    files = [f"== {each.path}\n{each.text()}" for each in program.files(wish, system)]
    pages = [f"== enter in {each.where}\n{each.text}" for each in program.pages(wish, system)]
    return "\n".join([*files, *pages]).replace("\r\n", "\n")


def golden_files() -> Iterator[tuple[Path, str]]:
    """Yields the path of every golden file, with what belongs into it."""
    for program in LOCKABLE:
        for system in TargetSystem:
            for way, wish in WISHES.items():
                yield GOLDEN / f"{program.name}.{system.value}.{way}.txt", deployed(program, wish, system)


if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    for path, text in golden_files():
        path.write_text(text)
        sys.stdout.write(f"{path.name}\n")
