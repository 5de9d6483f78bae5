"""The log of a server: whole lines, bounded, and nothing in it is obeyed."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpguard.upstreams.process.logs import LONGEST_LINE, UpstreamLog, last_lines, mark


def written(folder: Path, *pieces: bytes, limit: int = 1_000_000) -> str:
    log = UpstreamLog(folder, "server", limit)
    for piece in pieces:
        log.write(piece)
    log.close()
    return log.path.read_text() if log.path.exists() else ""


@given(st.binary(max_size=300), st.lists(st.integers(0, 300), max_size=5))
def test_it_is_the_same_however_the_bytes_come(data: bytes, cuts: list[int]) -> None:
    ends = [*sorted(cut for cut in cuts if cut < len(data)), len(data)]
    pieces = [data[begin:end] for begin, end in zip([0, *ends], ends, strict=False)]
    with tempfile.TemporaryDirectory() as whole, tempfile.TemporaryDirectory() as cut:
        assert lines(written(Path(whole), data)) == lines(written(Path(cut), *pieces))


def lines(text: str) -> list[str]:
    """A line that is empty says nothing; where a line end of two bytes was cut in the middle there is one more."""
    return [line for line in text.split("\n") if line]


def test_a_long_line_is_cut_and_says_so(tmp_path: Path) -> None:
    assert written(tmp_path, b"x" * 100_000 + b"\nnext\n") == "x" * LONGEST_LINE + " […]\nnext\n"


def test_hidden_characters_and_bytes_that_are_no_text_are_shown(tmp_path: Path) -> None:
    text = written(tmp_path, "\x1b[2J\u202eevil\x07".encode() + b"\xff\n")
    assert text == "⟨U+001B⟩[2J⟨U+202E⟩evil⟨U+0007⟩\\xff\n"


def test_it_never_holds_more_than_twice_the_limit(tmp_path: Path) -> None:
    log = UpstreamLog(tmp_path, "server", 1000)
    for number in range(1000):
        log.write(b"line %d\n" % number)
    log.close()
    files = sorted(tmp_path.iterdir())
    assert [file.name for file in files] == ["server.log", "server.log.1"]
    assert all(file.stat().st_size <= 1000 for file in files)
    assert files[0].read_text().endswith("line 999\n")


def test_a_link_in_its_place_is_not_followed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("untouched")
    (tmp_path / "server.log").symlink_to(victim)
    log = UpstreamLog(tmp_path, "server", 1000)
    log.write(b"line\n")
    assert victim.read_text() == "untouched"


@pytest.mark.parametrize("folder", ["missing", "file/below"])
def test_a_log_that_cannot_be_written_holds_nobody_up(folder: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    log = UpstreamLog(tmp_path / folder, "server", 1000)
    log.write(b"line\n" * 10)
    log.close()


def test_what_was_written_since_a_moment_is_read_also_where_the_log_was_turned_over(tmp_path: Path) -> None:
    log = UpstreamLog(tmp_path, "server", 30)
    assert last_lines(tmp_path, "server", 1000, mark(tmp_path, "server")) == ()
    log.write(b"before it\n")
    since = mark(tmp_path, "server")
    assert last_lines(tmp_path, "server", 1000, since) == ()
    log.write(b"after 1\n")
    assert last_lines(tmp_path, "server", 1000, since) == ("after 1",)
    log.write(b"after 2, in another file\n")
    assert (tmp_path / "server.log.1").exists()
    assert last_lines(tmp_path, "server", 1000, since) == ("after 1", "after 2, in another file")
    assert last_lines(tmp_path, "server", 1000) == ("before it", "after 1", "after 2, in another file")
    assert last_lines(tmp_path, "server", 27, since) == ("after 2, in another file",)
