"""Secret references: read strictly, resolved once, and never told."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpguard.settings.entries.launches import is_header_value
from mcpguard.settings.entries.references import (
    LARGEST_SECRET,
    BadTemplate,
    Reference,
    ReferenceKind,
    UnresolvedReference,
    literals,
    parts,
    references_in,
    resolve,
    shown_template,
)
from tests.settings.entries import CANARY


def test_a_template_is_taken_apart_and_kept_as_it_is() -> None:
    template = "Bearer ${env:A_1}-${file:/run/secrets/a b}"
    assert parts(template) == (
        "Bearer ", Reference(ReferenceKind.ENV, "A_1"), "-", Reference(ReferenceKind.FILE, "/run/secrets/a b"),
    )  # fmt: skip
    assert literals(template) == ("Bearer ", "-")
    assert references_in(template) == (
        Reference(ReferenceKind.ENV, "A_1"),
        Reference(ReferenceKind.FILE, "/run/secrets/a b"),
    )


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("${env:A}", "${env:A}"),
        ("${env:A}${file:/b}", "${env:A}${file:/b}"),
        ("Bearer ${env:A}", "(set)"),
        ("plain", "(set)"),
        ("", "(set)"),
        ("$HOME", "(set)"),
    ],
)
def test_a_template_is_shown_only_if_it_is_all_references(template: str, said: str) -> None:
    assert shown_template(template) == said


@given(st.text(alphabet="ab$,{}:/-envfile", max_size=20))
def test_a_template_is_read_whole_or_refused(template: str) -> None:
    try:
        found = parts(template)
    except BadTemplate:
        assert "${" in template
        return
    written = (part if isinstance(part, str) else f"${{{part.kind}:{part.name}}}" for part in found)
    assert "".join(written) == template
    assert not any("${" in part for part in literals(template))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "secrets"
    place.mkdir()
    (tmp_path / "outside").write_text(CANARY, encoding="utf-8")
    return place


def test_references_are_resolved_once_and_in_place(folder: Path) -> None:
    (folder / "a").write_bytes("geheim ü ${env:B}\n".encode())
    environ = {"A": "${env:B}", "B": CANARY}
    assert resolve(f"x ${{env:A}} ${{file:{folder}/a}} $B", environ, [folder]) == "x ${env:B} geheim ü ${env:B} $B"
    assert resolve("plain", {}, []) == "plain"


@pytest.mark.parametrize(("content", "value"), [(b"a\n\n", "a\n"), (b"a\r\n", "a"), (b"a\r", "a\r"), (b" a", " a")])
def test_one_newline_at_the_end_of_a_file_is_dropped(folder: Path, content: bytes, value: str) -> None:
    (folder / "a").write_bytes(content)
    assert resolve(f"${{file:{folder}/a}}", {}, [folder]) == value


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty"),
        (b"\n", "is empty"),
        (b"a\0b", "contains a NUL character"),
        (CANARY.encode() + b"\xff", "is not UTF-8 text"),
        (CANARY.encode() * LARGEST_SECRET, f"is larger than {LARGEST_SECRET} bytes"),
    ],
)
def test_a_file_that_cannot_be_used_is_told_without_its_content(folder: Path, content: bytes, sentence: str) -> None:
    (folder / "a").write_bytes(content)
    assert unresolved(f"{CANARY}${{file:{folder}/a}}", folder) == f"{folder}/a {sentence}"


def unresolved(template: str, *folders: Path) -> str:
    with pytest.raises(UnresolvedReference) as caught:
        resolve(template, {"EMPTY": ""}, folders)
    assert CANARY not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    return str(caught.value)


def test_the_largest_file_is_still_read(folder: Path) -> None:
    (folder / "a").write_bytes(b"a" * LARGEST_SECRET)
    assert len(resolve(f"${{file:{folder}/a}}", {}, [folder])) == LARGEST_SECRET


def test_only_files_below_the_folders_are_read(folder: Path, tmp_path: Path) -> None:
    (folder / "link").symlink_to(tmp_path / "outside")
    (folder / "loop").symlink_to(folder / "loop")
    (tmp_path / "secrets-too").mkdir()
    (tmp_path / "secrets-too" / "a").write_text(CANARY, encoding="utf-8")
    beyond = "is neither below a folder in the setting upstreams.secret_folders nor among the secrets of this server"
    for path in (f"{folder}/link", f"{folder}/../outside", f"{tmp_path}/outside", f"{tmp_path}/secrets-too/a"):
        assert unresolved(f"${{file:{path}}}", folder) == f"{path} {beyond}"
    assert unresolved(f"${{file:{folder}/a}}") == f"{folder}/a {beyond}"
    assert unresolved(f"${{file:{Path.cwd()}/a}}", Path(), Path("..")) == f"{Path.cwd()}/a {beyond}"
    assert "cannot be read" in unresolved(f"${{file:{folder}/loop}}", folder)


def test_a_link_inside_the_folder_and_a_folder_that_is_a_link_are_followed(folder: Path, tmp_path: Path) -> None:
    (folder / "data").mkdir()
    (folder / "data" / "a").write_text("b", encoding="utf-8")
    (folder / "a").symlink_to("data/a")
    (tmp_path / "alias").symlink_to(folder)
    assert resolve(f"${{file:{folder}/a}}", {}, [tmp_path / "alias"]) == "b"
    assert resolve(f"${{file:{tmp_path}/alias/a}}", {}, [tmp_path / "none", folder]) == "b"


def test_only_regular_files_are_read(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    (folder / "inner").mkdir()
    assert unresolved(f"${{file:{folder}/pipe}}", folder) == f"{folder}/pipe is not a regular file"
    assert unresolved(f"${{file:{folder}/inner}}", folder).startswith(f"{folder}/inner ")
    assert unresolved(f"${{file:{folder}/none}}", folder) == f"{folder}/none cannot be read: No such file or directory"


def test_a_variable_must_be_set() -> None:
    assert unresolved(f"{CANARY} ${{env:NONE}}") == "NONE is not set in the environment of mcpguard"
    assert unresolved("${env:EMPTY}") == "EMPTY is empty in the environment of mcpguard"
    assert unresolved(f"${{:{CANARY}}}").startswith('a value contains "${" without a valid reference')


@pytest.mark.parametrize("text", ["a\r\nB: c", "a\n", " a", "a ", "a\0", "ü", "\x7f"])
def test_what_was_resolved_may_not_fit_into_a_header(text: str) -> None:
    assert not is_header_value(text)
    assert all(map(is_header_value, ("", "a", "Bearer a\tb c", "~!")))
