"""A guard that is killed among calls has counted each of them once, after the next start."""

import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx2

from tests.patience import PATIENCE
from tests.process import Served, run, serving, until
from tests.world import said

API = "http://guard/api/v1"
TABLES = ("counted_calls", "counted_durations")


@contextmanager
def operator(guard: Served) -> Iterator[httpx2.Client]:
    with httpx2.Client(transport=httpx2.HTTPTransport(uds=str(guard.operator)), timeout=PATIENCE) as client:
        yield client


def call_for_ever(guard: Served) -> None:
    """Make calls, which are denied and recorded, until the guard is gone."""
    with suppress(httpx2.HTTPError), operator(guard) as client:
        while client.post(f"{API}/call", json={"caller": "anonymous", "name": "notes:nothing"}).status_code == 200:
            pass


def behind(client: httpx2.Client) -> int:
    counted: int = client.get(f"{API}/counts").json()["counted"]["behind"]
    return counted


def counts(database: Path) -> dict[str, list[Any]]:
    with closing(sqlite3.connect(database)) as connection:
        return {table: sorted(connection.execute(f"SELECT * FROM {table}")) for table in TABLES}


def all_calls(database: Path) -> int:
    return sum(row[-1] for row in counts(database)["counted_calls"])


def wait_for_more(database: Path) -> None:
    """Wait until more calls are counted than now."""
    before = all_calls(database)
    until(lambda: all_calls(database) > before, "more calls are counted")


def test_each_call_is_counted_once(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    database = data_dir / "mcpguard.db"
    for _ in range(2):
        with serving(data_dir) as guard, ThreadPoolExecutor(3) as callers, operator(guard) as client:
            for _ in range(3):
                callers.submit(call_for_ever, guard)
            wait_for_more(database)
            guard.kill()
    with serving(data_dir) as guard, operator(guard) as client:
        until(lambda: behind(client) == 0, "all are counted")
    opened = sum(record["kind"] == "opened" for record in said(database))
    found = counts(database)
    assert opened > 0
    assert all_calls(database) == 6 * opened, "by three lengths of time, in two details"
    assert run("audit", "recount", "--data-dir", data_dir).returncode == 0
    assert counts(database) == found
