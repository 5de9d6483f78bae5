"""An inspection that fails leaves a trace: in the audit log, with the server over a restart, on every page and answer;
and what the server wrote meanwhile harms nobody who reads it."""

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint

from mcpguard.domain.decisions import Undecidable
from mcpguard.domain.people import Role
from mcpguard.guard.review.inspection import InspectionResult
from mcpguard.guard.review.inspection_records import CUT_OFF, GUARD_ENDED
from mcpguard.guard.review.logs.log_lines import LIKE_ORDER
from tests import people
from tests.patience import PATIENCE
from tests.process import ROOT
from tests.web.pages.filling import reviewer
from tests.web.reviewing import SERVERS, WHY, add, said, show
from tests.world import World, world

pytestmark = pytest.mark.anyio
Json = dict[str, Any]
TOKEN = "hunter2-hunter2-hunter2"  # noqa: S105 - what a server is given here
SAYS = """
import os, pathlib, sys, time
trace = pathlib.Path(sys.argv[1])
if (trace / "works").exists():
    from mcpguard.demo.__main__ import main
    main(["honest"], {})
(trace / "began").touch()
print("\\n".join(f"line {number}" for number in range(30)), file=sys.stderr)
print("\\x1b[2Jgone <script>alert(1)</script>", file=sys.stderr)
print("gone \\u202etxt.exe", file=sys.stderr)
print("." * 5000, file=sys.stderr)
print("token is", os.environ.get("TOKEN"), file=sys.stderr, flush=True)
while (trace / "hangs").exists():
    time.sleep(0.01)
sys.exit(3)
"""


def config(folder: Path, **more: Any) -> Json:  # noqa: ANN401 - JSON
    """A server that does not start, until it is told to work."""
    command = {"command": sys.executable, "args": ["-c", SAYS, str(folder)], "cwd": str(ROOT), "sandbox": "none"}
    return {**command, "env": {"TOKEN": TOKEN}, **more}


async def inspect(guard: World, **more: Any) -> Json:  # noqa: ANN401 - JSON
    body = {"why": WHY, "consent": True, **more}
    return dict(said(await guard.operator.post(f"{SERVERS}/broken/inspect", json=body)))


def failures(guard: World) -> list[Json]:
    return [record for record in guard.said() if record["kind"] == "inspection_failed"]


async def until(condition: Callable[[], object]) -> None:
    with anyio.fail_after(PATIENCE):
        while not condition():
            await checkpoint()


async def test_why_it_failed_is_recorded_and_shown_and_survives_a_restart(tmp_path: Path) -> None:
    async with world(tmp_path) as guard:
        await add(guard, "broken", **config(tmp_path))
        before = await show(guard, "broken")
        assert before["failed_inspection"] is None
        done = await inspect(guard)
        server = await show(guard, "broken")
        (record,) = failures(guard)
        assert (record["server"], record["started"]) == ("broken", True)
        assert done["error"].startswith(record["why"])
        assert "the server process exited (exit code 3)" in record["why"]
        assert "token is" in done["error"]
        assert "token is" not in "".join(map(str, guard.said())), "what the server wrote is not in the audit log"
        assert (record["fingerprint"], record["by"], record["via"]) == (
            server["fingerprint"],
            server["failed_inspection"]["by"],
            "operator socket",
        )
        assert server["failed_inspection"]["error"] == record["why"]
        assert (server["standing"], server["observed"], server["inspecting"]) == ("quarantined", None, None)
    async with world(tmp_path) as guard:
        assert await show(guard, "broken") == server
        assert len(failures(guard)) == 1
        (listed,) = said(await guard.operator.get(SERVERS))["servers"]
        whole = server["failed_inspection"]
        assert listed["failed_inspection"] == {key: whole[key] for key in ("at", "by", "error", "started")}


async def test_it_is_told_on_every_page_and_what_the_server_wrote_is_shown_and_not_obeyed(
    guard: World, tmp_path: Path
) -> None:
    await add(guard, "broken", **config(tmp_path))
    await inspect(guard, give=["TOKEN"])
    failed = (await show(guard, "broken"))["failed_inspection"]
    wrote, error = failed["wrote"], failed["error"]
    assert wrote[:2] == ["line 24", "line 25"], "the last ten lines"
    assert len(wrote) == 10
    assert max(map(len, wrote)) <= 1000
    assert TOKEN not in "".join(wrote)
    by = await reviewer(guard)
    page = await by.open("/servers/broken")
    assert wrote[-3] == LIKE_ORDER, "what hides something is withheld, and the log has it"
    for shown in ("Last inspection failed", error, "line 24", "gone <script>alert(1)</script>", LIKE_ORDER):
        assert shown in page.text, shown
    assert "<script>alert" not in page.answer.text
    assert "\u202e" not in page.answer.text
    assert "\x1b" not in page.answer.text
    assert TOKEN not in page.answer.text
    for path in ("/", "/servers"):
        page = await by.open(path)
        assert "Last inspection failed" in page.text
        assert TOKEN not in page.answer.text
    assert error[:100] in (await by.open("/")).text
    decisions = await (await reviewer(guard, Role.ADMIN, "root")).open("/servers/broken/decisions")
    assert "Inspection failed" in decisions.text
    assert TOKEN not in "".join(map(str, guard.said()))


async def test_the_lines_of_an_earlier_run_are_not_told_again(guard: World, tmp_path: Path) -> None:
    await add(guard, "broken", **config(tmp_path))
    await inspect(guard)
    with (guard.now.settings.data_dir / "logs" / "broken.log").open("a") as log:
        log.write("an earlier run\n")
    revision = (await show(guard, "broken"))["revision"]
    patch = {"revision": revision, "patch": {"args": ["-c", "import sys; sys.exit('the end')"]}}
    said(await guard.operator.patch(f"{SERVERS}/broken", json=patch))
    await inspect(guard)
    assert (await show(guard, "broken"))["failed_inspection"]["wrote"] == ["the end"] * 2, "one line for each era"


async def test_the_next_success_clears_it(guard: World, tmp_path: Path) -> None:
    await add(guard, "broken", **config(tmp_path))
    await inspect(guard)
    (tmp_path / "works").touch()
    assert (await inspect(guard))["error"] == ""
    server = await show(guard, "broken")
    assert (server["failed_inspection"], server["inspecting"], server["inspected"]) == (None, None, True)
    assert "Last inspection failed" not in (await (await reviewer(guard)).open("/servers/broken")).text
    assert len(failures(guard)) == 1


async def test_another_launch_clears_it_and_another_label_does_not(guard: World, tmp_path: Path) -> None:
    await add(guard, "broken", **config(tmp_path))
    await inspect(guard)
    revision = (await show(guard, "broken"))["revision"]
    body = {"revision": revision, "patch": {"timeout": 7}}
    said(await guard.operator.patch(f"{SERVERS}/broken", json=body))
    assert (await show(guard, "broken"))["failed_inspection"] is not None
    body = {"revision": revision + 1, "patch": {"args": ["-c", "1"]}}
    said(await guard.operator.patch(f"{SERVERS}/broken", json=body))
    assert (await show(guard, "broken"))["failed_inspection"] is None


async def test_what_is_only_refused_is_no_failed_inspection(guard: World, tmp_path: Path) -> None:
    await add(guard, "broken", **config(tmp_path))
    inspecting = guard.now.guard.inspecting
    with pytest.raises(Undecidable):
        await inspecting.inspect("broken", people.BY, consent=True, give=frozenset({"NOTHING"}))
    assert (await show(guard, "broken"))["failed_inspection"] is None
    assert not [record for record in guard.said() if record["kind"].startswith("inspect")]


async def test_one_that_is_cut_off_has_failed(guard: World, tmp_path: Path) -> None:
    (tmp_path / "hangs").touch()
    await add(guard, "broken", **config(tmp_path))
    inspecting = guard.now.guard.inspecting
    async with anyio.create_task_group() as tasks:

        async def look() -> InspectionResult:
            return await inspecting.inspect("broken", people.BY, consent=True, give=frozenset())

        tasks.start_soon(look)
        await until((tmp_path / "began").exists)
        server = await show(guard, "broken")
        assert (server["inspecting"] is not None, server["failed_inspection"]) == (True, None)
        assert "Inspection in progress" in (await (await reviewer(guard)).open("/servers/broken")).text
        tasks.cancel_scope.cancel()
    server = await show(guard, "broken")
    assert (server["inspecting"], server["failed_inspection"]["error"]) == (None, CUT_OFF)
    (record,) = failures(guard)
    assert record["why"] == CUT_OFF


async def test_one_during_which_the_guard_is_killed_has_failed_when_it_starts_again(tmp_path: Path) -> None:
    (tmp_path / "hangs").touch()
    async with world(tmp_path) as guard, anyio.create_task_group() as tasks:
        await add(guard, "broken", **config(tmp_path))
        inspecting = guard.now.guard.inspecting

        async def look() -> InspectionResult:
            return await inspecting.inspect("broken", people.BY, consent=True, give=frozenset())

        tasks.start_soon(look)
        await until((tmp_path / "began").exists)
        await guard.settle()
        left = tmp_path / "as a kill leaves it"
        shutil.copytree(tmp_path / "data", left / "data", ignore=shutil.ignore_patterns("*.sock", "*.lock"))
        tasks.cancel_scope.cancel()
    async with world(left) as guard:
        server = await show(guard, "broken")
        assert (server["inspecting"], server["failed_inspection"]["error"]) == (None, GUARD_ENDED)
        (record,) = failures(guard)
        assert (record["why"], record["late"], record["by"]) == (GUARD_ENDED, True, people.BY.by.id)
        assert guard.verified().whole
