"""The guard of the version before is replaced by this one, as docs/deploying.md says: what it had stays, is whole, and
works on. That version made the folder (`earlier_guard.py`); it lies elsewhere now, and only what names it changes."""

import json
import signal
import tarfile
from base64 import b64decode
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import psycopg
import pytest

from mcpguard.store.engine.schema import NEWEST
from tests.patience import PATIENCE
from tests.people import PASSWORD, bears, shows
from tests.postgres import fresh_database
from tests.process import Result, Served, run, serving, until
from tests.upgrade.earlier_guard import BACKENDS, DUMP, HERE, archive_of

BEFORE = "0010"
COOKIE = "mcpguard_session"
NOTE = "Milk, bread, and a call to Ada.\n"


@dataclass(frozen=True, slots=True)
class Earlier:
    """What the version before left in a folder, and on a server if `environ` names one; and who has which token."""

    folder: Path
    tokens: Mapping[str, str]
    environ: Mapping[str, str]

    @property
    def database(self) -> Path:
        return self.folder / "data" / "mcpguard.db"

    @property
    def last(self) -> int:
        """The newest record, which that version signed when it stopped."""
        signed = json.loads((self.folder / "checkpoint.json").read_text())
        return int(json.loads(b64decode(signed["content"]))["seq"])

    def __call__(self, *words: str | Path, by: str = "") -> Result:
        given = {"MCPGUARD_TOKEN": self.tokens[by]} if by else {}
        return run(*words, cwd=self.folder, environ={**self.environ, **given})

    def done(self, *words: str | Path) -> str:
        told = self(*words)
        assert told.returncode == 0, told
        return told.stdout

    def read(self, *words: str) -> Any:  # noqa: ANN401 - JSON
        return json.loads(self.done(*words, "-o", "json"))

    def standings(self, *listed: str) -> dict[str, str]:
        return {each["name"]: each["standing"] for each in self.read(*listed)}

    def configure(self, **settings: object) -> None:
        """Remove the setting that is out of place, and write these where they belong."""
        file = self.folder / "config.json"
        written = json.loads(file.read_text())
        del written["retention"]
        file.write_text(json.dumps(written | {"mcpguard": written["mcpguard"] | settings}))

    @contextmanager
    def served(self) -> Iterator[Served]:
        with serving(self.folder / "data", cwd=self.folder, environ=self.environ) as guard:
            yield guard
            guard.signal(signal.SIGTERM)
            assert guard.ended() == 0

    def is_verified(self) -> bool:
        """Whether the log fits the checkpoint that the version before signed, and all anchors."""
        names = ("checkpoint.json", "anchors")
        said = [self("audit", "verify", "--checkpoint", self.folder / name) for name in names]
        return all((each.returncode, each.stdout.splitlines()[-1:]) == (0, ["Integrity: OK"]) for each in said)

    def held(self, answer: str) -> Result:
        """What an agent hears of a call that waits until a person answers it."""
        with ThreadPoolExecutor(1) as pool:
            call = pool.submit(self, "call", "write", "notes:save_note", by="writer")
            (waits,) = until(lambda: [each for each in self.read("held", "list") if each["state"] == "waiting"], "it")
            self.done("held", answer, waits["id"], "--reason", "as before")
            return call.result()


@pytest.fixture(params=BACKENDS)
def earlier(request: pytest.FixtureRequest, tmp_path: Path) -> Earlier:
    with tarfile.open(archive_of(request.param)) as archive:
        archive.extractall(tmp_path, filter="tar")  # with their modes: keys are nobody else's
    config, data = tmp_path / "config.json", tmp_path / "data"
    config.write_text(config.read_text().replace(HERE, str(tmp_path)))
    environ = {"MCPGUARD_CONFIG": str(config), "MCPGUARD_DATA_DIR": str(data)}
    if request.param == "postgres":
        environ["MCPGUARD_STORE__URL"] = url = fresh_database(request.getfixturevalue("postgres_server"))
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute((tmp_path / DUMP).read_bytes())
    return Earlier(tmp_path, json.loads((tmp_path / "tokens.json").read_text()), environ)


def signed_in(guard: Served, password: str) -> str:
    """What the browser of the admin shows; nothing where they are not let in."""
    sent, ours = {"name": "ada", "password": password}, {"origin": guard.url}
    answer = httpx2.post(f"{guard.url}/login", data=sent, headers=ours, trust_env=False, timeout=PATIENCE)
    return answer.cookies.get(COOKIE) or ""


@pytest.mark.parametrize("earlier", ["sqlite"], indirect=True)
def test_a_setting_out_of_place_is_told_and_nothing_is_upgraded(earlier: Earlier) -> None:
    before = earlier.database.read_bytes()
    for words in (("config", "check"), ("db", "upgrade"), ("serve",)):
        told = earlier(*words)
        assert told.returncode != 0
        assert 'belongs below "mcpguard": {"mcpguard": {"retention": …}}' in told.stderr
    assert earlier.database.read_bytes() == before
    assert not (earlier.folder / "data" / "backups").exists()


def test_what_is_to_be_done_is_told_and_the_log_is_whole_before_anything_serves(earlier: Earlier) -> None:
    earlier.configure()
    assert earlier.done("config", "check")
    (waits,) = [each for each in earlier.read("doctor")["findings"] if each["check"] == "database.schema"]
    assert (waits["level"], "mcpguard db upgrade" in waits["next"]) == ("notice", True)
    assert "mcpguard db upgrade" in earlier("audit", "verify").stderr
    told = earlier.done("db", "upgrade")
    assert f" upgraded from {BEFORE} to schema {NEWEST}\n" in told
    copied = earlier.folder / "data" / "backups" / f"mcpguard-{BEFORE}.db"
    assert earlier.database.exists() is copied.exists() is (str(copied) in told)
    assert earlier.is_verified()
    assert [each["seq"] for each in earlier.read("audit", "list", "-n", "1")] == [earlier.last]


def test_what_was_approved_given_and_recorded_before_counts_afterwards(earlier: Earlier) -> None:
    earlier.configure()
    with earlier.served() as guard:
        (upgraded,) = guard.logged("store.upgraded")
        assert (upgraded["before"], upgraded["after"]) == (BEFORE, NEWEST)
        decided = {"barred": "blocked", "notes": "approved", "open": "approved"}
        assert earlier.standings("server", "list") == decided | {"journal": "quarantined"}, "its folder is another"
        for server in ("notes", "open"):
            chosen = {"read_note": "approved", "save_note": "approved", "share_note": "pending"}
            assert earlier.standings("tool", "list", server) == chosen
            assert earlier("call", "read", f"{server}:read_note", by="reader").stdout == NOTE
        assert "mcpguard server inspect journal" in earlier("call", "read", "journal:read_note", by="reader").stdout
        for tool, caller in (("save_note", "reader"), ("share_note", "writer")):
            assert earlier("call", "write", f"notes:{tool}", by=caller).returncode == 1
        assert "revoked" in earlier("call", "read", "notes:read_note", by="gone").stderr
        assert earlier.held("allow").stdout == "It is saved.\n"
        assert "as before" in earlier.held("deny").stdout

        assert guard.get("/overview", **shows(signed_in(guard, PASSWORD))).status_code == 200
        assert not signed_in(guard, f"not {PASSWORD}")
        assert guard.get("/api/v1/records", **bears(earlier.tokens["operator"])).status_code == 200

    later = [each for each in earlier.read("audit", "list", "-n", "1000") if each["seq"] > earlier.last]
    assert (later[0]["kind"], later[0]["schema"]) == ("started", NEWEST)
    moved = [(each["server"], each["move"]) for each in later if each["kind"] == "moved" and "name" not in each]
    assert moved == [("journal", "identity_changed")]
    ended = [(each["server"], each["name"], each["outcome"]) for each in later if each["kind"] == "closed"]
    assert ended == [
        ("notes", "read_note", "answered"),
        ("open", "read_note", "answered"),
        ("journal", "read_note", "refused"),
        ("notes", "save_note", "refused"),
        ("notes", "share_note", "refused"),
        ("notes", "save_note", "answered"),
        ("notes", "save_note", "refused"),
    ]
    found = {each["seq"] > earlier.last for each in earlier.read("audit", "list", "caller:reader")}
    assert found == {False, True}, "records from before are searched too"
    assert earlier.is_verified()


@pytest.mark.parametrize("earlier", ["sqlite"], indirect=True)
def test_what_the_configuration_loosens_together_with_the_upgrade_waits_for_a_person(earlier: Earlier) -> None:
    earlier.configure(hosts=["guard.example", "other.example"], code={"enabled": True})
    with earlier.served() as guard:
        assert guard.logged("settings.unconfirmed", keys=["hosts", "code.enabled"], next="mcpguard config confirm")
        accepted = {name: guard.get("/login", host=name).status_code for name in ("guard.example", "other.example")}
        assert accepted == {"guard.example": 200, "other.example": 421}
        earlier.done("config", "confirm")
    with earlier.served() as guard:
        assert guard.get("/login", host="other.example").status_code == 200
    assert earlier.is_verified()
