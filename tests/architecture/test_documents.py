"""Documents agree with the code."""

import re
from pathlib import Path

import pytest

from mcpguard import __version__
from mcpguard.domain.calls.records import RecordKind
from mcpguard.domain.reasons import Reason
from mcpguard.domain.words import WORDS
from mcpguard.store.rows.records import COLUMNS
from tests.documents import DOCS, DOCUMENTS

ROOT = DOCS.parent
WRITTEN = sorted([*DOCS.rglob("*.md"), *ROOT.glob("*.md")])


@pytest.mark.parametrize("name", list(DOCUMENTS))
def test_a_made_document_is_current(name: str) -> None:
    assert (DOCS / name).read_text() == DOCUMENTS[name](), "run: make docs"


@pytest.mark.parametrize("reason", list(Reason), ids=str)
def test_a_reason_has_the_form_it_must_have(reason: Reason) -> None:
    assert re.fullmatch(r"[a-z]+:[a-z_]+", reason.value)
    assert reason.sentence.endswith(".")
    assert reason.next.endswith(".")
    if "unknown" in reason.sentence or "was executed" in reason.sentence or "was sent" in reason.sentence:
        assert "Do not repeat" in reason.next or "before you repeat it" in reason.next


def test_words_are_said_once() -> None:
    said = [word.word for word in WORDS]
    assert len(said) == len(set(said))


def test_the_ledgers_format_names_every_kind_and_column() -> None:
    text = (DOCS / "ledger-format.md").read_text()
    for kind in RecordKind:
        assert f"| `{kind}` |" in text
    for column in COLUMNS:
        assert f"`{column}`" in text


@pytest.mark.parametrize("document", WRITTEN, ids=lambda path: path.name)
def test_every_link_to_a_file_leads_somewhere(document: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", document.read_text()):
        assert (document.parent / target).exists(), target


def test_nobody_is_told_to_install_somebody_elses_package() -> None:
    for document in WRITTEN:
        assert not re.search(r"(pip install|uvx|pipx (run|install)) mcpguard(?!-firewall)", document.read_text())


def test_the_changelog_has_this_version() -> None:
    heading = "Unreleased" if ".dev" in __version__ else __version__
    assert f"## [{heading}]" in (ROOT / "CHANGELOG.md").read_text()
