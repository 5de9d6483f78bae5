"""`mcpguard audit prune` and `redact`, as an operator uses them beside a running guard."""

import json
from pathlib import Path
from typing import Any

from tests.cli.command import mcpguard, refusal
from tests.cli.played_socket import answering, http, problem
from tests.process import serving
from tests.world import said

OFTEN = {"MCPGUARD_AUDIT__CHECKPOINT_RECORDS": "1"}
WHY = ("--reason", "a year is over")


def done(data_dir: Path, *words: str) -> dict[str, Any]:
    told = mcpguard("audit", *words, *WHY, "--data-dir", data_dir, "-o", "json")
    assert (told.exit_code, told.stderr) == (0, ""), told.output
    answer: dict[str, Any] = json.loads(told.stdout)
    return answer


def test_an_operator_prunes_and_redacts_and_the_log_is_proved(tmp_path: Path) -> None:
    with serving(tmp_path / "data", "--demo", environ=OFTEN) as guard:
        data_dir = guard.data_dir
        for number in range(6):
            args = f'{{"n": {number}}}'
            assert mcpguard("call", "read", "notes:nothing", "--args", args, "--data-dir", data_dir).exit_code == 1
        entry = next(record["entry"] for record in said(data_dir / "mcpguard.db") if record["kind"] == "opened")
        told = mcpguard("audit", "redact", entry, *WHY, "--data-dir", data_dir)
        assert told.exit_code == 0, told.output
        assert "removed, of 1 related calls" in told.stdout
        dry = done(data_dir, "prune", "--keep", "4", "--dry-run")
        assert (dry["records"], dry["more"]) == ([], False)
        told = mcpguard("audit", "prune", "--keep", "4", *WHY, "--data-dir", data_dir)
        assert told.exit_code == 0, told.output
        assert f" to {dry['last']:,}, recorded as " in told.stdout
        assert mcpguard("audit", "verify", "--data-dir", data_dir).exit_code == 0
        shown = mcpguard("audit", "list", "--data-dir", data_dir, "--limit", "50").stdout
        assert "pruned" in shown
        for wrong, why in (
            (("prune",), "either `before`"),
            (("prune", "--keep", "1", "--before", "1d"), "either `before`"),
            (("prune", "--before", "soon"), "a time"),
            (("redact", "999999"), "the audit log has no record 999999"),
            (("redact", "0199d8a4-7c1e-7b60-9f3e-2f6a1c9b0e11"), "no such call"),
        ):
            before = len(said(data_dir / "mcpguard.db"))
            assert why in refusal(mcpguard("audit", *wrong, *WHY, "--data-dir", data_dir)), wrong
            assert len(said(data_dir / "mcpguard.db")) == before, "and nothing happened"


def part(first: int, last: int, more: bool) -> bytes:
    said = {"what": "records", "first": first, "last": last, "count": last - first + 1, "later": 7, "more": more}
    return http(200, json.dumps(said | {"records": [last + 100]}).encode())


def test_it_asks_until_there_is_no_more_and_says_what_went() -> None:
    parts = part(2, 5, True), part(6, 9, True), part(10, 12, False), problem(409, detail="asked once too often")
    with answering(http(200, b"{}"), *parts) as data_dir:
        told = mcpguard("audit", "prune", "--keep", "1", *WHY, "--data-dir", data_dir)
    assert (told.exit_code, told.stderr) == (0, "")
    assert told.stdout.splitlines() == [
        "4 records removed: 2 to 5, recorded as 105",
        "4 records removed: 6 to 9, recorded as 109",
        "3 records removed: 10 to 12, recorded as 112",
        "7 more cannot be removed yet: no signed checkpoint covers them, or a call is still open",
    ]
    with answering(http(200, b"{}"), *parts) as data_dir:
        whole = done(data_dir, "prune", "--keep", "1")
    assert whole["records"] == [105, 109, 112]
    assert (whole["first"], whole["last"], whole["count"], whole["more"]) == (2, 12, 11, False)


def test_what_went_before_it_failed_is_said() -> None:
    with answering(http(200, b"{}"), part(2, 5, True), problem(503, detail="the log cannot be written")) as data_dir:
        told = mcpguard("audit", "prune", "--keep", "1", *WHY, "--data-dir", data_dir)
    assert told.exit_code == 1
    assert told.stdout == "4 records removed: 2 to 5, recorded as 105\n"
    assert "the log cannot be written" in told.stderr


def test_without_a_guard_it_says_what_to_do(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as guard:
        data_dir = guard.data_dir
    before = said(data_dir / "mcpguard.db")
    for words in (("prune", "--keep", "0"), ("redact", "1")):
        assert "start it (mcpguard serve)" in refusal(mcpguard("audit", *words, *WHY, "--data-dir", data_dir))
    assert said(data_dir / "mcpguard.db") == before
