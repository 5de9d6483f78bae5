"""The store, the same tests on SQLite and on real PostgreSQL. `NEWEST`: the schema that the scripts lead to."""

import shutil
from pathlib import Path

from mcpguard import assets

NEWEST = max(script.name[:4] for script in (assets.migrations() / "versions").glob("[0-9]*.py"))


def scripts_up_to(folder: Path, last: str) -> Path:
    """The scripts of an older version."""
    shutil.copytree(assets.migrations(), folder)
    for script in (folder / "versions").glob("[0-9]*.py"):
        if script.name[:4] > last:
            script.unlink()
    return folder
