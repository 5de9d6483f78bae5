"""The programs of the documentation run as they stand there."""

import re
from pathlib import Path

import pytest

from mcpguard.engines.code_run import InnerCall
from tests.engines.running import Answering, ended, engines

pytestmark = pytest.mark.anyio
PAGE = (Path(__file__).parents[2] / "docs" / "programs.md").read_text()
PROGRAMS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


class Files(Answering):
    """A server with two reports, which answers as `server-filesystem` does, and a tracker."""

    async def call(self, calls: list[InnerCall], _parallel: int) -> list[object]:  # type: ignore[override]
        self.made += calls
        return [{"ok": True, "result": self._answer(call)} for call in calls]

    @staticmethod
    def _answer(call: InnerCall) -> object:
        match call.tool:
            case "list_directory":
                return {"content": "[FILE] a.md\n[FILE] b.md\n[DIR] old"}
            case "read_text_file":
                return {"content": f"# {call.arguments['path']}\nopen: 3"}
            case "search_issues":
                return {"issues": [{"number": 7, "title": "It breaks", "labels": ["bug"]}, {"number": 8, "labels": []}]}
            case _:
                return {"done": True}


VALUES = (["# /reports/a.md\nopen: 3", "# /reports/b.md\nopen: 3"], {"labelled": [7], "failed": []}, 6)
INPUTS = ({"wanted": ["/reports/a.md", "/reports/b.md"]}, None, None)


def test_the_page_has_three_programs() -> None:
    assert len(PROGRAMS) == len(VALUES)


@pytest.mark.parametrize(("number", "given", "value"), [*zip(range(3), INPUTS, VALUES, strict=True)])
async def test_a_program_of_the_page_ends_with_its_value(
    number: int, given: object, value: object, tmp_path: Path
) -> None:
    async with engines(tmp_path) as made:
        end = await ended(made, PROGRAMS[number], given, Files())
    assert end.failure is None
    assert end.value == value
