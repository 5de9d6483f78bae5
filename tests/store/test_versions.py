"""What is kept of definitions: each once, the ones that matter always, the others only so many, and nothing of what is
forgotten."""

from sqlalchemy import Connection

from mcpguard.domain.capabilities import CapabilityKind, Fingerprint
from mcpguard.domain.findings import Evidence, Finding, InspectionFindings, Severity
from mcpguard.domain.servers.pins import Pin
from mcpguard.store.rows import pins, versions

FOUND = InspectionFindings(
    (Finding("a.rule", "T1", Severity.HIGH, 0.5, True, "It says so", Evidence("key:/a~1b", 1, 3)),), 50
)
PRINTS = [Fingerprint(f"v1:{number:064x}") for number in range(30)]


def kept(connection: Connection, capability: str = "one") -> list[int]:
    return [PRINTS.index(each.fingerprint) for each in versions.versions_of(connection, capability)]


def test_of_what_nobody_needs_the_newest_are_kept(connection: Connection) -> None:
    for number, fingerprint in enumerate(PRINTS[:10]):
        versions.put_seen(connection, "one", fingerprint, b"{}", number)
        versions.put_seen(connection, "other", fingerprint, b"{}", number)
    versions.prune(connection, "one", frozenset((PRINTS[0], PRINTS[3])), 5)
    assert kept(connection) == [0, 3, 7, 8, 9]
    versions.prune(connection, "one", frozenset((PRINTS[0], PRINTS[3])), 2)
    assert kept(connection) == [0, 3]
    versions.prune(connection, "one", frozenset((PRINTS[0], PRINTS[3])), 1)
    assert kept(connection) == [0, 3], "what is named stays, however few may be kept"
    assert len(kept(connection, "other")) == 10


def test_one_that_was_left_says_until_when_it_was_there(connection: Connection) -> None:
    versions.put_seen(connection, "one", PRINTS[0], b"{}", 5)
    versions.put_left(connection, "one", PRINTS[0], 9)
    versions.put_seen(connection, "one", PRINTS[1], b"{}", 10)
    assert [(each.first_seen, each.last_seen) for each in versions.versions_of(connection, "one")] == [(5, 9), (10, 10)]


def test_what_was_found_is_kept_with_its_definition_and_goes_with_it(connection: Connection) -> None:
    for number in range(3):
        versions.put_seen(connection, "one", PRINTS[number], b"{}", number)
        versions.put_findings(connection, "one", PRINTS[number], FOUND)
    assert [each.found for each in versions.versions_of(connection, "one")] == [FOUND] * 3
    versions.prune(connection, "one", frozenset((PRINTS[1],)), 2)
    assert [(each.fingerprint, each.found) for each in versions.versions_of(connection, "one")] == [
        (PRINTS[1], FOUND),
        (PRINTS[2], FOUND),
    ]
    versions.put_findings(connection, "one", PRINTS[1], InspectionFindings((), 0))
    versions.put_seen(connection, "one", PRINTS[2], b"{}", 9)
    assert [each.found for each in versions.versions_of(connection, "one")] == [None, None], (
        "what was found then counts no more"
    )


def test_what_is_found_now_is_what_is_found_in_the_definition_that_is_listed_now(connection: Connection) -> None:
    listed = Pin("one", "up", CapabilityKind.TOOL, "one", PRINTS[1])
    gone = Pin("two", "up", CapabilityKind.TOOL, "two", PRINTS[0], present=False)
    other = Pin("three", "another", CapabilityKind.TOOL, "one", PRINTS[0])
    pins.put(connection, [listed, gone, other])
    for capability in ("one", "two", "three"):
        versions.put_seen(connection, capability, PRINTS[0], b"{}", 1)
        versions.put_findings(connection, capability, PRINTS[0], FOUND)
    versions.put_seen(connection, "one", PRINTS[1], b"{}", 1)
    assert versions.current_findings(connection, "up") == {}
    versions.put_findings(connection, "one", PRINTS[1], FOUND)
    assert versions.current_findings(connection, "up") == {"one": FOUND}


def test_findings_of_one_server_are_forgotten_and_its_definitions_stay(connection: Connection) -> None:
    pins.put(connection, [Pin(each, each, CapabilityKind.TOOL, "tool", PRINTS[0]) for each in ("gone", "stays")])
    for each in ("gone", "stays"):
        versions.put_seen(connection, each, PRINTS[0], b"{}", 1, FOUND)
    versions.forget_findings(connection, "gone")
    assert [one.found for one in versions.versions_of(connection, "gone")] == [None]
    assert versions.current_findings(connection, "stays") == {"stays": FOUND}


def test_what_is_forgotten_leaves_no_definition(connection: Connection) -> None:
    names = [f"{number}" for number in range(1200)]  # more than an old SQLite takes in one statement
    pins.put(connection, [Pin(name, "up", CapabilityKind.TOOL, name, PRINTS[0]) for name in names])
    for name in names[:3]:
        versions.put_seen(connection, name, PRINTS[0], b"{}", 1)
    pins.forget(connection, names[1:])
    assert [pin.id for pin in pins.pins_of(connection, "up")] == ["0"]
    assert [kept(connection, name) for name in names[:3]] == [[0], [], []]
