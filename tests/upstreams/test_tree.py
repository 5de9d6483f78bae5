"""What a process has started, told while processes come and go."""

import subprocess
import sys
from collections.abc import Iterator

import pytest

from mcpguard.upstreams.process.tree import Descendants, descendants, resident

LOOKS = 1000
COMING_AND_GOING = """
import os
for _ in range(4):
    if os.fork() == 0:
        break
print(flush=True)
while os.getppid() != 1:
    if os.fork() == 0:
        if os.fork() == 0:
            os._exit(0)
        os._exit(0)
    os.wait()
"""


@pytest.fixture
def restless() -> Iterator[int]:
    """A process below which others begin and end all the time."""
    process = subprocess.Popen([sys.executable, "-c", COMING_AND_GOING], stdout=subprocess.PIPE)
    assert process.stdout is not None
    with process.stdout as output:
        output.readline()
        with Descendants(process.pid) as below:
            below.look()
            try:
                yield process.pid
            finally:
                process.kill()
                below.kill()
                process.wait()


def test_it_can_be_told_at_any_moment(restless: int) -> None:
    """Whoever fails at this cannot end the server: nothing would be killed."""
    seen = [len(descendants(restless)) for _ in range(LOOKS)]
    assert max(seen) > 2
    assert all(resident({restless, *descendants(restless)}) > 0 for _ in range(LOOKS))
