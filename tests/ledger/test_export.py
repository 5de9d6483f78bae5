"""The log in forms that others read: nothing is lost on the way, and no spreadsheet computes what an agent wrote."""

import csv
import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sqlalchemy import Connection

from mcpguard.domain.filters import Filter
from mcpguard.ledger.export.csv import COLUMNS, FIELDS, Csv
from mcpguard.ledger.export.export import TOGETHER, ExportSpan, Tape, batches, next_batch
from mcpguard.ledger.export.formats import FORMS, form
from mcpguard.ledger.export.jsonl import Jsonl
from mcpguard.ledger.export.line import ExportLine
from mcpguard.ledger.export.selection import EVERYTHING, Fitting
from mcpguard.ledger.format import GENESIS, link
from mcpguard.store.engine.offline import open_offline
from mcpguard.store.rows import chains, records
from tests.ledger import sample
from tests.ledger.export.ocsf_validator import problems
from tests.ledger.tampering import tampering
from tests.world import said

FORMULA_SIGNS = "=+-@\uff1d\uff0b\uff0d\uff20\u2212\ufe66\ufe62\ufe63\ufe6b"
FORMULAS = (*"=+-@\t\r\n '|\0", "\uff1d", "\uff0b", "\uff0d", "\uff20", "\u00a0", "\ufeff", "\u200b", "\u2212")
"""What a spreadsheet may take for the beginning of a formula, also in full width, or may leave out before one."""
TEXT = st.text(max_size=30, alphabet=st.characters(codec="utf-8"))
HOSTILE = st.one_of(TEXT, st.builds(lambda first, rest: first + rest, st.sampled_from(FORMULAS), TEXT))


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sample.make(tmp_path_factory.mktemp("ledger"), pruned=True)


def exported(ledger: Path, word: str, *, packed: bool = False, **span: Any) -> bytes:  # noqa: ANN401 - of a span
    with open_offline(ledger) as connect, connect() as connection:
        tape = Tape(form(word), packed=packed)
        parts = [tape.begin(), *(tape.take(some) for some in batches(connection, whole(connection, **span)))]
        return b"".join([*parts, tape.mark()])


def table(raw: bytes, *, readable: bool = True) -> str:
    """One record as a table."""
    form = Csv()
    return (
        form.head() + form.line(ExportLine("chain-1", 3, b"h" * 32, raw, json.loads(raw) if readable else {}))
    ).decode()


def whole(connection: Connection, after: int = 0, upto: int = 2**53, selection: Fitting = EVERYTHING) -> ExportSpan:
    chain = chains.newest(connection)
    assert chain is not None
    return ExportSpan(chain, after, upto, selection)


def test_every_record_is_on_a_line_from_which_alone_its_hash_follows(ledger: Path) -> None:
    lines = exported(ledger, "jsonl").splitlines()
    kept = []
    for line in lines:
        told = json.loads(line)
        if told.get("pruned"):
            assert told.keys() == {"chain", "hash", "pruned", "seq"}
            continue
        content = line[line.index(b'"record":') + len('"record":') : -1]
        assert link(bytes.fromhex(told["previous"]), content).hex() == told["hash"]
        kept.append(told["record"])
    assert kept == said(ledger)
    numbers = [told.get("seq") or told["record"]["seq"] for told in map(json.loads, lines)]
    assert numbers == list(range(1, len(lines) + 1))
    assert json.loads(lines[0])["previous"] == GENESIS.hex()


@pytest.mark.parametrize("word", [form.word for form in FORMS])
@pytest.mark.parametrize("packed", [False, True])
def test_whatever_was_interrupted_goes_on_after_a_number_and_is_the_same(ledger: Path, word: str, packed: bool) -> None:
    def read(data: bytes) -> bytes:
        return gzip.decompress(data) if packed else data

    once = read(exported(ledger, word, packed=packed))
    head = form(word).head()
    for seq in range(len(said(ledger)) + 4):
        first = read(exported(ledger, word, packed=packed, upto=seq))
        rest = read(exported(ledger, word, packed=packed, after=seq))
        assert first + rest.removeprefix(head) == once


def test_every_record_is_a_valid_event_of_the_open_schema_also_where_it_was_pruned(ledger: Path) -> None:
    events = [*map(json.loads, exported(ledger, "ocsf").splitlines())]
    kept = [event["unmapped"]["record"] for event in events if "record" in event["unmapped"]]
    assert kept == said(ledger)
    assert [event["metadata"]["sequence"] for event in events] == [*range(1, len(events) + 1)]
    assert [found for event in events for found in problems(event)] == []
    gone = [event for event in events if "record" not in event["unmapped"]]
    assert [(event["metadata"]["sequence"], event["activity_name"]) for event in gone] == [(3, "Pruned"), (4, "Pruned")]


def test_a_tape_that_is_marked_can_be_read_to_the_mark_and_goes_on_after_it(ledger: Path) -> None:
    with open_offline(ledger) as connect, connect() as connection:
        (some,) = batches(connection, whole(connection))
    tape = Tape(Jsonl(), packed=True)
    first = tape.begin() + tape.take(some[:3]) + tape.mark()
    assert gzip.decompress(first).count(b"\n") == 3
    both = first + tape.take(some[3:]) + tape.mark()
    assert gzip.decompress(both) == exported(ledger, "jsonl")


def test_whoever_comes_back_for_each_batch_gets_the_same(ledger: Path) -> None:
    with open_offline(ledger) as connect, connect() as connection:
        found, after = list[ExportLine](), 0
        while some := next_batch(connection, whole(connection, after=after, upto=7)):
            found += some[:2]
            after = found[-1].seq
        (at_once,) = batches(connection, whole(connection, upto=7))
    assert found == list(at_once)
    assert TOGETHER > 7


def test_what_was_chosen_by_time_has_the_hash_of_the_record_before_it(ledger: Path) -> None:
    times = [record["at"] for record in said(ledger)]
    middle = times[len(times) // 2]
    since, until = Fitting(Filter(since=middle)), Fitting(Filter(until=middle))
    kept = [[json.loads(line)["record"]["at"] for line in exported(ledger, "jsonl", selection=each).splitlines()]
            for each in (since, until)]  # fmt: skip
    assert kept == [[at for at in times if at >= middle], [at for at in times if at < middle]]
    for line in exported(ledger, "jsonl", selection=since).splitlines():
        told, content = json.loads(line), line[line.index(b'"record":') + len('"record":') : -1]
        assert link(bytes.fromhex(told["previous"]), content).hex() == told["hash"]


def test_what_was_chosen_is_told_in_a_text() -> None:
    assert EVERYTHING.text == ""
    assert (
        Fitting(Filter(since=0, until=1_500_000)).text == "since:1970-01-01T00:00:00Z until:1970-01-01T00:00:01.500000Z"
    )


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE records SET content = x'00ff' WHERE seq = 5",
        "UPDATE records SET content = 'text' WHERE seq = 5",
        "UPDATE records SET content = 7 WHERE seq = 5",
        "UPDATE records SET content = CAST('{' || char(10) || '\"seq\":5}' AS BLOB) WHERE seq = 5",
        "UPDATE records SET content = CAST('[1]' AS BLOB) WHERE seq = 5",
        "UPDATE records SET hash = 'text' WHERE seq = 5",
        "UPDATE records SET hash = 7 WHERE seq = 5",
    ],
)
def test_what_somebody_wrote_into_the_store_ends_no_export_and_no_line(tmp_path: Path, statement: str) -> None:
    ledger = sample.make(tmp_path)
    with tampering(ledger) as connection:
        connection.execute(statement)
    lines = exported(ledger, "jsonl").splitlines()
    assert [json.loads(line).get("seq") or json.loads(line)["record"]["seq"] for line in lines] == [
        *range(1, len(lines) + 1)
    ]
    assert ("unreadable" in json.loads(lines[4])) is ("content" in statement)
    events = [*map(json.loads, exported(ledger, "ocsf").splitlines())]
    assert [event["metadata"]["sequence"] for event in events] == [*range(1, len(lines) + 1)]
    assert [found for event in events for found in problems(event)] == []
    assert (events[4]["activity_name"] == "Unreadable") is ("content" in statement)
    rows = list(csv.reader(io.StringIO(exported(ledger, "csv").decode(), newline="")))
    assert {len(row) for row in rows} == {len(COLUMNS)}
    assert len(rows) == len(lines) + 1


def read(cell: str) -> object:
    """What was recorded, of a cell with text in it."""
    return json.loads(cell) if cell.startswith('"') else cell


@given(
    st.dictionaries(st.sampled_from(FIELDS), st.one_of(HOSTILE, st.integers(-(2**53) + 1, 2**53 - 1), st.booleans())),
    HOSTILE,
)
def test_everything_comes_back_from_a_table(fields: dict[str, Any], other: str) -> None:
    raw = json.dumps({**fields, "x": other, "seq": 3}, ensure_ascii=False, sort_keys=True).encode()
    written = table(raw)
    head, row = csv.reader(io.StringIO(written, newline=""), strict=True)
    assert written.endswith("\r\n")
    assert head == [*COLUMNS]
    shown = dict(zip(head, row, strict=True))
    for name in FIELDS:
        value, text = fields.get(name), shown[name]
        if isinstance(value, str):
            assert read(text) == value
        else:
            assert text == ("" if value is None else json.dumps(value))
    assert json.loads(shown["record"]) == json.loads(raw)
    assert (shown["seq"], shown["hash"], shown["pruned"]) == ("3", "68" * 32, "")


@given(
    st.dictionaries(st.sampled_from(FIELDS), st.lists(HOSTILE, max_size=4).map("".join)),
    st.lists(HOSTILE, max_size=4).map("".join),
    st.booleans(),
)
@example({"name": "x;=1+1;\t@SUM(1)\r\n-1|+1"}, ';"=1+1";', True)
@example({"why": "a =1+1"}, "'=1+1", False)
def test_a_spreadsheet_computes_nothing_wherever_it_takes_a_cell_to_begin(
    fields: dict[str, str], other: str, ours: bool
) -> None:
    """Excel splits at semicolons where a comma is the decimal sign, other programs at what somebody chooses, and who
    splits elsewhere takes quotation marks for text."""
    record = json.dumps({**fields, "x": other}, ensure_ascii=False, separators=(",", ":"))
    written = table(record.encode() if ours else f"[{other}]".encode(), readable=ours)
    for separator in ",;\t| :'":
        for quoting in csv.QUOTE_MINIMAL, csv.QUOTE_NONE:
            for row in csv.reader(io.StringIO(written, newline=""), delimiter=separator, quoting=quoting):
                assert [cell for cell in row if computed(cell)] == []


def computed(cell: str) -> bool:
    """Whether what it begins with makes it a formula, whatever a spreadsheet leaves out before that."""
    first = next((letter for letter in cell if letter.isalnum() or letter in FORMULA_SIGNS), "")
    return first in FORMULA_SIGNS and first != ""


def test_what_is_left_of_a_long_cell_begins_no_formula() -> None:
    """A cell of Excel holds 32,767 letters."""
    written = table(json.dumps({"name": "a=" * 18_000}).encode())
    _, row = csv.reader(io.StringIO(written, newline=""))
    long = [cell for cell in row if len(cell) > 32_767]
    assert len(long) == 2
    assert [sign for cell in long for sign in FORMULA_SIGNS if sign in cell] == []


def test_numbers_of_ours_are_numbers_and_all_else_is_quoted(ledger: Path) -> None:
    text = exported(ledger, "csv").decode().partition("\r\n")[2]
    rows = list(csv.reader(io.StringIO(text, newline=""), quoting=csv.QUOTE_NONNUMERIC))
    kinds = {name: {type(row[at]).__name__ for row in rows if row[at] != ""} for at, name in enumerate(COLUMNS)}
    assert {name for name, found in kinds.items() if "float" in found} == {"seq", "at", "took_us"}
    assert all(len(found) <= 1 for found in kinds.values())


def test_no_record_is_lost_between_two_batches(tmp_path: Path) -> None:
    """More records than are read at once, chosen and not: numbers go up by one."""
    ledger = sample.make(tmp_path)
    with tampering(ledger) as connection:
        (end,) = connection.execute("SELECT max(seq) FROM records").fetchone()
        connection.execute(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200) "
            "INSERT INTO records (chain, seq, hash, content, at) "
            f"SELECT chain, {end} + i, zeroblob(32), CAST('{{\"seq\":' || ({end} + i) || '}}' AS BLOB), 1 "
            "FROM records, n WHERE seq = 1"
        )
    lines = exported(ledger, "jsonl").splitlines()
    assert [json.loads(line)["record"]["seq"] for line in lines] == list(range(1, end + 1201))
    assert all("previous" in json.loads(line) for line in lines)
    assert len(exported(ledger, "jsonl", selection=Fitting(Filter(until=2))).splitlines()) == 1200
    with open_offline(ledger) as connect, connect() as connection:
        last = records.last_record(connection, whole(connection).chain)
    assert last is not None
