"""The examples of docs/proxy.md run, as they stand there."""

import re
import sys
from pathlib import Path

import anyio
import pytest

from tests.gateway.guard_face import FACE
from tests.gateway.speaking import guarded
from tests.process import ROOT, environment
from tests.simulators.script import Script

pytestmark = pytest.mark.anyio
EXAMPLES = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "proxy.md").read_text(), re.DOTALL)
SAID = (("web::add", "sum", "a note", "Greet Ada."), ("web::echo", "proxy_path='web::add'", "path: call needs"), ("5",))


@pytest.mark.parametrize(("code", "said"), [*zip(EXAMPLES, SAID, strict=True)])
async def test_an_example_does_what_it_says(code: str, said: tuple[str, ...], tmp_path: Path) -> None:
    async with guarded(tmp_path, Script()) as guard:
        environ = environment({"MCPGUARD_URL": guard.where.url + FACE})
        run = await anyio.run_process([sys.executable, "-c", code], cwd=ROOT, env=environ, check=False)
        told = run.stdout.decode()
        assert run.returncode == 0, run.stderr.decode()
        for part in said:
            assert part in told
