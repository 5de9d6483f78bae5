"""The path of a plain call stays short: what is added to it has to replace something."""

from pathlib import Path

import pytest

from tests.gateway.call_path import following

MOST = {"stdio": (45, 145, 10, 12), "http": (47, 156, 12, 12)}
"""How many files, functions, nested coroutines and kinds of values a plain call on the direct face enters at most, by
the transport of its server. These figures only ever become smaller.
"""
TRIES = 20
"""On a busy machine an answer may come before anybody waits for it, or in two parts: then more is entered."""


@pytest.mark.parametrize("over", ["stdio", "http"])
async def test_a_plain_call_enters_no_more_than_it_did(over: str, tmp_path: Path) -> None:
    async with following(tmp_path, over) as (path, client):
        for _ in range(TRIES):
            with path.watch():
                answer = await client.call("web::page", {"about": "something"})
            assert answer.result["content"] == [{"type": "text", "text": "some words"}]
            assert path.functions["guard/calls/handle.py", "Calls.handle"], "the call was not seen"
            entered = len(path.files), len(path.functions), len(path.nested), len(path.values)
            if is_short := all(now <= most for now, most in zip(entered, MOST[over], strict=True)):
                break
    assert is_short, f"{entered}\n{path}"


async def test_a_plain_call_starts_no_task(tmp_path: Path) -> None:
    """A task group and a task for each call were much of what a call cost."""
    async with following(tmp_path, "stdio") as (path, client):
        with path.watch():
            assert (await client.call("web::page", {})).result
    assert path.tasks == []
