"""`mcpguard status`: shows the status of the running guard."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import typer

from mcpguard.cli.shared.common import As, Config, DataDir, Output, print_json, print_table
from mcpguard.cli.shared.guard_client import GuardClient
from mcpguard.domain.servers.launches import Profile
from mcpguard.settings.entries.entry import list_names


def status(config: Config = None, data_dir: DataDir = None, output: As = Output.TABLE) -> None:
    """Show the status of the running guard. Exit code 1 when none runs or it cannot take calls."""
    answer = GuardClient.from_options(config, data_dir).get("/api/v1/status")
    if output is Output.JSON:
        print_json(answer)
    else:
        print_table(("what", "value"), _rows(answer))
    if not answer["ready"]["ready"]:
        raise typer.Exit(1)


def _rows(answer: Any) -> Iterator[tuple[str, str]]:  # noqa: ANN401 - JSON of our own
    ready, ledger = answer["ready"], answer["ledger"]
    yield "ready", "yes" if ready["ready"] else f"NO: {ready['reason']} since {_time(ready['since'])}: {ready['cause']}"
    yield "version", f"{answer['version']} (process {answer['process']}, since {_time(answer['started_at'])})"
    yield "console", f"{answer['console']}/"
    yield "data directory", answer["data_dir"]
    yield "database", f"{answer['database']} (schema {answer['schema']})"
    yield "settings", answer["settings"]
    if answer["unconfirmed"]:
        yield "unconfirmed", f"{', '.join(answer['unconfirmed'])} (mcpguard config confirm)"
    sandbox = answer["sandbox"]
    yield "sandbox", "works" if sandbox["works"] else f"NONE: {sandbox['why']}"
    for sentence in sandbox["in_force"]:
        yield "", sentence
    loose = [server["name"] for server in answer["servers"] if server["sandbox"] == Profile.NONE]
    if loose:
        yield "without sandbox", list_names(loose)
    states = [server["state"] for server in answer["servers"]]
    yield "servers", f"{states.count('ready')} of {len(states)} ready (mcpguard server list)" if states else "none"
    yield "audit log", f"{ledger['records']:,} records, signed up to {ledger['signed_to']:,}"
    yield "chain", f"{ledger['chain']} ends in {ledger['hash']}"
    yield "signing key", ledger["key"]
    yield from _anchors(ledger["anchors"])
    yield "open calls", str(ledger["open_entries"])
    yield "held calls", f"{answer['held']} need review (mcpguard held list)" if answer["held"] else "none"
    if ledger["refused"]:
        yield "refused", f"{ledger['refused']:,} records could not be written"


def _anchors(anchors: Any) -> Iterator[tuple[str, str]]:  # noqa: ANN401 - JSON of our own
    if anchors is None:
        return
    yield "anchored", f"up to {anchors['to']:,} in {anchors['file']}"
    if anchors["trouble"]:
        yield "", f"NOT WRITTEN: {anchors['trouble']}"
    if anchors["rolled_back"]:
        yield "", f"ROLLED BACK: {anchors['rolled_back']}"


def _time(microseconds: int) -> str:
    return f"{datetime.fromtimestamp(microseconds / 1e6, UTC):%Y-%m-%d %H:%M:%S} UTC"
