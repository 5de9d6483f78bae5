"""How the process is set up before it serves."""

import subprocess
import sys

from tests.process import ROOT

READS = """
import gc, json
from mcpguard.app.process import steady
from mcpguard.codec.messages import read

wide = {"properties": {f"p{at}": {"type": "object", "properties": {}} for at in range(150_000)}}
said = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": "x", "inputSchema": wide}]}}).encode()
del wide
steady()
full = []
gc.callbacks.append(lambda phase, about: full.append(phase) if about["generation"] == 2 else None)
read(said, max_bytes=len(said))
print(len(full))
"""


def test_while_a_message_full_of_objects_is_read_the_collector_does_not_walk_everything() -> None:
    """It would stop everything, again and again, while somebody's message grows."""
    done = subprocess.run([sys.executable, "-c", READS], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0"]


LOADS_LATE = """
import gc
from mcpguard.app.process import steady
from mcpguard.slow_libraries import freeze_loaded

steady()
freeze_loaded()
kept, before = [[] for _ in range(10_000)], gc.get_freeze_count()
freeze_loaded()
print(gc.get_freeze_count() - before)
import xmlrpc.client
freeze_loaded()
print(gc.get_freeze_count() - before >= 10_000)
"""


def test_what_is_there_is_kept_out_of_collection_only_where_something_was_loaded() -> None:
    """Whatever is garbage in that moment is kept for ever."""
    done = subprocess.run([sys.executable, "-c", LOADS_LATE], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0", "True"]
