"""A guard from before there was quarantine is replaced by this one: what it let agents use waits for a person now."""

import json
import shutil
import signal
import socket
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx2
import pytest

from mcpguard import assets
from mcpguard.app import places
from mcpguard.ledger import keys
from mcpguard.ledger.chain import Chain
from mcpguard.ledger.ledger import Ledger
from mcpguard.settings.model import Settings
from mcpguard.store.engine.schema import upgrade
from mcpguard.store.engine.store import open_store
from mcpguard.store.files import datadir
from tests.clock import FakeClock
from tests.process import ROOT, Served, approve, recorded, run, serving, whole
from tests.simulators.http_client import HttpClient
from tests.world import new_id, settings_for

pytestmark = pytest.mark.anyio
BEFORE_QUARANTINE = "0001_ledger.py"
LEAVES_A_TRACE = """
import pathlib, sys
from mcpguard.demo.__main__ import main

pathlib.Path(sys.argv[1]).touch()
main(["honest"], {})
"""


async def old_store(folder: Path) -> Settings:
    """The data directory of a guard that knew nothing of standings: it has served, and was stopped."""
    settings, clock = settings_for(folder), FakeClock()
    (folder / "newer").mkdir()
    newer = settings_for(folder / "newer")
    scripts = folder / "older"
    shutil.copytree(assets.migrations(), scripts)
    for script in (scripts / "versions").glob("*.py"):
        if script.name != BEFORE_QUARANTINE:
            script.unlink()
    datadir.prepare(settings.data_dir)
    key = keys.load_or_make(places.signing_key(settings))
    chain = Chain(key, settings.audit.checkpoint_records, clock, new_id)
    async with open_store(places.backend(newer), chain, batch=64, readers=1) as store:
        ledger = Ledger(store.writer, chain, newer, clock)
        await ledger.start({"version": "0.0.1", "schema": "0001", "settings": 1, "key": key.public})
        await ledger.stop("asked to")
    upgrade(places.backend(settings), scripts)
    with closing(sqlite3.connect(str(places.database(settings)), isolation_level=None)) as older:
        older.execute("ATTACH ? AS newer", [str(places.database(newer))])
        for table in ("chains", "records", "checkpoints"):
            columns = ", ".join(row[1] for row in older.execute(f"PRAGMA table_info({table})"))
            older.execute(f"INSERT INTO {table} ({columns}) SELECT {columns} FROM newer.{table}")
    return settings


async def refused(guard: Served, tool: str) -> str:
    """Why an agent that calls this is refused."""
    async with httpx2.AsyncClient(trust_env=False) as http:
        reply = await HttpClient(http, f"{guard.url}/mcp/all").call(tool, {})
    return str(reply.result["_meta"]["mcpguard/refusal"]["reason"])


def standings(guard: Served) -> dict[str, str]:
    listed = run("server", "list", "-o", "json", "--data-dir", guard.data_dir)
    assert (listed.returncode, listed.stderr) == (0, "")
    return {server["name"]: server["standing"] for server in json.loads(listed.stdout)}


def of_kind(kind: str, data_dir: Path) -> list[dict[str, Any]]:
    return [record for record in recorded(data_dir) if record["kind"] == kind]


def stop(guard: Served) -> None:
    guard.signal(signal.SIGTERM)
    assert guard.ended() == 0


async def test_what_an_older_guard_would_have_run_is_quarantined_and_not_touched(tmp_path: Path) -> None:
    data_dir = (await old_store(tmp_path)).data_dir
    config, trace = tmp_path / "config.json", tmp_path / "trace"
    with socket.create_server(("127.0.0.1", 0)) as listens:
        listens.setblocking(False)
        entry = {"command": sys.executable, "args": ["-c", LEAVES_A_TRACE, str(trace)], "cwd": str(ROOT)}
        url = f"http://127.0.0.1:{listens.getsockname()[1]}/mcp"
        declared = {"notes": entry, "web": {"url": url}}
        own = {"upstreams": {"networks": ["127.0.0.0/8"]}, "log": {"format": "json"}}
        config.write_text(json.dumps({"mcpServers": declared, "mcpguard": own}))

        with serving(data_dir, "--config", str(config)) as guard:
            (upgraded,) = guard.logged("store.upgraded")
            assert upgraded["before"] == "0001"
            assert standings(guard) == dict.fromkeys(declared, "quarantined")
            assert await refused(guard, "notes::read_note") == "server:quarantined"
            assert await refused(guard, "web::echo") == "server:quarantined"
            stop(guard)
        assert [record["kind"] for record in recorded(data_dir)][:3] == ["started", "stopped", "started"]
        admitted = of_kind("admitted", data_dir)
        assert [(each["server"], each["change"], each.get("before"), each["after"]) for each in admitted] == [
            ("notes", "added", None, "quarantined"),
            ("web", "added", None, "quarantined"),
        ]
        assert {(each["origin"], each["by"]) for each in admitted} == {("file", "configuration file")}
        assert whole(data_dir)

        with serving(data_dir, "--config", str(config)) as guard:
            assert not guard.logged("store.upgraded")
            assert standings(guard) == dict.fromkeys(declared, "quarantined")
            assert not trace.exists(), "it was never started"
            with pytest.raises(BlockingIOError):
                listens.accept()
            assert of_kind("admitted", data_dir) == admitted, "there was nothing new to say"

            approve(data_dir, "notes")
            assert trace.exists(), "when a person wants it, it is"
            assert standings(guard) == {"notes": "approved", "web": "quarantined"}
            stop(guard)
        with pytest.raises(BlockingIOError):
            listens.accept()
    assert whole(data_dir)
