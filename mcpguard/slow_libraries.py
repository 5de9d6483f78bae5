"""Loads libraries so that neither a start nor the collector of garbage takes long for them.

Some packages import all that they have; of these, single modules are imported.
"""

import gc
import sys
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType


def import_part(package: str, part: str) -> ModuleType:
    """Return the module `part` of a package, without what the package itself imports.

    It is our own copy under another name, so that whoever imports the package gets it whole. The module must import
    nothing of the library but modules beside it, by relative imports.
    """
    holder = f"{package.replace('.', '_')}_parts"
    if holder not in sys.modules:
        root, *below = package.split(".")
        spec = find_spec(root)  # the root is found, and not run
        if spec is None or not spec.submodule_search_locations:
            raise ModuleNotFoundError(f"No module named {root!r}", name=root)
        module = ModuleType(holder)
        module.__path__ = [str(Path(place, *below)) for place in spec.submodule_search_locations]
        sys.modules[holder] = module
    return import_module(f"{holder}.{part}")


def freeze_loaded() -> None:
    """Keep what was loaded late out of garbage collection too, in a process that does so with what it loaded before."""
    if gc.get_freeze_count():
        _freeze(len(sys.modules))


@cache
def _freeze(_modules: int) -> None:
    # Only if something was loaded: with the modules everything is kept for ever that is garbage by now.
    gc.freeze()
