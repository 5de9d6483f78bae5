"""The documentation builds as a site: whole, with every link leading somewhere, and nothing from elsewhere."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from mcpguard.web.pages.help.help_documents import HelpDocuments
from tests.documents import DOCS
from tests.process import ROOT

LOADED = re.compile(r"<(?:script|img|link|iframe|source)\b[^>]*?\b(?:src|href)=\"([^\"]*)\"")


def built(source: Path, target: Path) -> subprocess.CompletedProcess[str]:
    words = [
        "-m",
        "properdocs",
        "build",
        "--strict",
        "-f",
        str(source / "properdocs.yml"),
        "-d",
        str(target),
    ]
    environ = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False, env=environ)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("site")
    result = built(ROOT, target)
    assert result.returncode == 0, result.stderr
    return target


def test_every_document_is_a_page_that_the_navigation_leads_to(site: Path) -> None:
    front = (site / "index.html").read_text()
    for document in DOCS.rglob("*.md"):
        page = document.relative_to(DOCS).with_suffix(".html")
        page = page.with_name("index.html") if page.name == "README.html" else page
        assert (site / page).is_file(), page
        if page.parts[0] != "decisions" or page.name == "index.html":
            assert f'href="{page}"' in front, page
    decisions = (site / "decisions" / "index.html").read_text()
    for document in (DOCS / "decisions").glob("0*.md"):
        assert f'href="{document.stem}.html"' in decisions


def test_headings_have_the_anchors_that_they_have_in_the_guard(site: Path) -> None:
    documents = HelpDocuments(DOCS)
    for name in documents.names:
        here = re.findall(r'<h\d id="([^"]+)"', (site / f"{name}.html").read_text())
        found = documents.document(name)
        assert found is not None
        left_out = {*here} - found.anchors
        assert left_out <= {"more-pages"}, "what is nothing but pictures"
        assert len(here) > len(left_out), name


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    pages = [*site.rglob("*.html")]
    for page in pages:
        for address in LOADED.findall(page.read_text()):
            assert not re.match(r"[a-z]+:|//", address), f"{page.name}: {address}"
            assert (page.parent / address).is_file(), f"{page.name}: {address}"
    assert not re.search(r"url\(|@import", (site / "site.css").read_text())
    assert len(pages) > 50


@pytest.mark.parametrize(
    "broken",
    ["[x](nowhere.md)", "[x](limits.md#no-such-place)", "[x](../nowhere.py)", "[x](/limits.md)"],
)
def test_what_is_broken_fails_the_build(broken: str, tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / "docs").mkdir(parents=True)
    (source / "docs" / "theme").symlink_to(DOCS / "theme")
    (source / "properdocs.yml").write_text((ROOT / "properdocs.yml").read_text())
    (source / "docs" / "limits.md").write_text("# Limits\n")
    index = source / "docs" / "index.md"
    index.write_text("# Here\n\n## There\n\n- [Limits](limits.md)\n\n[fine](limits.md#limits)\n")
    assert built(source, tmp_path / "site").returncode == 0
    index.write_text(f"{index.read_text()}\n{broken}\n")
    assert built(source, tmp_path / "site").returncode != 0


def test_a_page_that_the_first_one_does_not_lead_to_fails_the_build(tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / "docs").mkdir(parents=True)
    (source / "docs" / "theme").symlink_to(DOCS / "theme")
    (source / "properdocs.yml").write_text((ROOT / "properdocs.yml").read_text())
    (source / "docs" / "index.md").write_text("# Here\n")
    assert built(source, tmp_path / "site").returncode == 0
    (source / "docs" / "limits.md").write_text("# Limits\n")
    assert built(source, tmp_path / "site").returncode != 0


def test_every_threat_names_the_test_that_covers_it() -> None:
    """That the files are there, `test_every_link_to_a_file_leads_somewhere` says."""
    rows = [line for line in (DOCS / "threats.md").read_text().splitlines() if line.startswith("| ")][1:]
    assert len(rows) > 40
    for row in rows:
        tests = row.strip("| ").rpartition(" | ")[2]
        for target in re.findall(r"\]\(\.\./(tests/[^)#]+)", tests):
            path = ROOT / target
            found = [path] if path.is_file() else [*path.rglob("test_*.py")]
            assert any("def test_" in each.read_text() for each in found), target
        assert "](../tests/" in tests, row
