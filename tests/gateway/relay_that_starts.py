"""A relay just as `mcpguard stdio` is one, that starts a played guard instead of `mcpguard serve`.

Arguments: the data directory, and for how many conversations the guard stays.
"""

import os
import sys
from pathlib import Path

from mcpguard.relay.relay import RelayCommand, relay
from tests.gateway import played_guard
from tests.gateway.agent import python


def serve(_config: Path | None, data_dir: Path) -> list[str]:
    return [*python(played_guard.__name__), str(data_dir), sys.argv[2]]


if __name__ == "__main__":
    sys.exit(relay(RelayCommand(data_dir=Path(sys.argv[1])), os.environ, serve))
