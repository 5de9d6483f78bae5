"""The uv that the tests install Python packages with: the machine's own, or one in .tools/uv; run as a program, it only
sees to it that there is one.
"""

import functools
import shutil
import sys
from pathlib import Path

from mcpguard.upstreams.packages.not_installed import NotInstalled
from mcpguard.upstreams.packages.own_uv import fetch_own_uv

TOOLS = Path(__file__).parents[2] / ".tools"


@functools.cache
def folder() -> Path:
    """Where `uv` is."""
    found = shutil.which("uv")
    return Path(found).parent if found else fetch_own_uv(TOOLS / "uv").parent


def main() -> None:
    try:
        folder()
    except NotInstalled as error:
        sys.exit(f"mcpguard: {error}")


if __name__ == "__main__":
    main()
