"""Which tests are in which tier: `make test` runs the fast one, `make test-all` both.

Rules kept here:
1. What is named nowhere is fast, so that a new test runs everywhere unless somebody gives a reason here.
2. The first rule that fits a case decides. A rule without `cases` fits whole files, which the other tier does not even
   import.
3. A test under `@given` that is fast is in both tiers: with few examples in the fast one, and with all of them in the
   slow one. What else generates examples says how many, and is in one.
4. Where almost every case starts a guard, the fast tier has one case in four of each test, and of these every fourth;
   at least one of each file. Which ones differs from test to test, so that each way in and each kind of server is among
   them (`left_out`).
5. Whatever is named on the command line is run, whichever its tier (`asked`).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Final
from zlib import crc32

from hypothesis import HealthCheck, settings

ROOT: Final = Path(__file__).parents[1]
TESTS: Final = "test_*.py"
CASES: Final = 4
CASES_OF_FILE: Final = 4
FEWER: Final = 20
"""The fast tier tries so many times fewer examples."""


class Tier(StrEnum):
    FAST = "fast"
    SLOW = "slow"


@dataclass(frozen=True)
class Rule:
    """Files, and of them the cases in whose name (with its parameters) one of these is found: "this|that"."""

    tier: Tier
    files: str
    cases: str
    why: str

    def fits(self, file: str, name: str) -> bool:
        return fnmatchcase(file, self.files) and any(part in name for part in self.cases.split("|"))


def _fast(files: str, cases: str, why: str) -> Rule:
    return Rule(Tier.FAST, f"tests/{files}", cases, why)


def _slow(files: str, why: str, cases: str = "") -> Rule:
    return Rule(Tier.SLOW, f"tests/{files}", cases, why)


RULES: Final = (
    # Folders and files of which the fast tier has a sample, or nothing.
    _fast("browser/test_held.py", "call_comes_while_somebody_looks", "one story in a real browser"),
    _slow("browser/*", "a browser draws every page, in every look"),
    _slow("clients/*", "clients from npm and PyPI"),
    _slow("conformance/*", "programs from npm, and every scenario of the conformance suite"),
    _slow("documentation/*", "a newcomer's whole first hour, and the whole site"),
    _slow("soak/*", "a mixed load for some time"),
    _slow("stories/test_walk.py", "the first hour as one script, in a folder and an environment of its own"),
    _slow("stories/test_wheel.py", "a wheel is built, installed and run"),
    _slow("upstreams/packages/test_installing.py", "packages come from their registries"),
    _slow("upstreams/packages/test_bringing.py", "packages come from their registries"),
    _slow("architecture/test_tiers.py", "the whole suite is collected", "nothing_is_left_out|of_each_threat"),
    _slow("gateway/test_no_way_in.py", "everything is tried by everybody, with a look at all trust after each step"),
    _fast("gateway/test_relay_starts_a_guard.py", "has_nothing_of_the_agent", "the whole way once"),
    _slow("gateway/test_relay_starts_a_guard.py", "relays and guards, each in a new interpreter"),
    _fast("attacks/test_another_reads_the_database.py", "connected_again", "one way of many"),
    _slow("attacks/test_another_reads_the_database.py", "several guards and readers that come and go"),
    _slow("attacks/test_read_only_at_start.py", "guards as another user, each in a new interpreter"),
    _slow("attacks/test_canaries.py", "a whole life of a guard, and a search through all that it left"),
    _slow("attacks/test_sandbox_is_tested.py", "runs of pytest inside a test"),
    _fast("attacks/test_postgres_fails.py", "process_of_the_server_is_killed", "one guard on PostgreSQL"),
    _slow("attacks/test_postgres_*.py", "servers of PostgreSQL that stop, crash and start"),
    _slow("*", "what holds on SQLite, again on PostgreSQL", "[postgres]|[postgres-|-postgres-|-postgres]|on_postgres"),
    # Single tests: megabytes, thousands, floods, and whatever else one test takes seconds of processor time for.
    _fast("attacks/test_floods.py", "[one_line]|[early_hints_one_at_a_time]", "two of many forms"),
    _slow("attacks/test_floods.py", "floods of many forms"),
    _slow("attacks/test_asking_whatever.py", "guards and clients that do anything", "test_"),
    _fast("attacks/test_operators_socket.py", "[a child]", "one kind of process"),
    _slow("attacks/test_operators_socket.py", "processes that started processes", "what_the_guard_started"),
    _fast("engines/test_hostile_programs.py", "[huge text]|[endless loop]|[flood of calls]|[file]", "a few of many"),
    _slow("engines/test_hostile_programs.py", "two workers for each of many programs", "others_go_on|too_large_ends"),
    _fast("engines/test_lying_workers.py", "[garbage]|[nothing]|[its own death]|[a call before its names]", "a few"),
    _slow("engines/test_lying_workers.py", "workers for each of many lies", "nothing_else|does_not_start"),
    _fast("engines/test_checked_calls.py", "[call_tool('web', 'page')-3-", "one of many calls"),
    _slow("engines/test_checked_calls.py", "a worker for each of many calls", "before_anything_runs|might_be"),
    _fast("engines/test_suspended_runs.py", "[100]|[500]|[TIMEOUT]", "some of many"),
    _slow("engines/test_suspended_runs.py", "workers for each of many", "without_a_word|whatever_the_host_says"),
    _slow("engines/test_many_runs.py", "workers for a thousand runs", "a_thousand_runs"),
    _slow("architecture/test_layers.py", "an import is tried in each module", "that_the_architecture_forbids"),
    _fast("catalog/search/semantic/test_golden_by_meaning.py", "[paraphrased]", "one kind of query"),
    _slow("catalog/search/semantic/test_golden_by_meaning.py", "the model reads the whole golden set"),
    _slow("catalog/search/semantic/test_stuffing.py", "the model reads the whole golden set"),
    _slow("deploying/test_chart.py", "Helm is installed for it"),
    _slow("deploying/test_image.py", "an image is built"),
    _slow("deploying/test_three_ways.py", "a machine is made, and Helm installed"),
    _slow("benchmarks/gateway/test_sdk_table.py", "guards, each in a new interpreter", "every_call_through"),
    _slow("benchmarks/quick/test_ledger_turns.py", "thousands of calls", "as_long_again"),
    _slow("benchmarks/programs/test_program_sheets.py", "a guard in a new interpreter, and servers from npm"),
    _slow("cli/test_connect.py", "many programs at once", "two_at_once"),
    _slow("store/test_record_search.py", "searches that are compared with a look at everything", "exactly_what_fits"),
    _slow("web/test_callers_api.py", "thousands of callers", "only_so_many"),
    _slow("web/test_schemathesis.py", "requests that are generated for every route"),
    _slow("attacks/test_hostile_upstreams.py", "a crowd of hostile servers", "many_that_mean_harm"),
    _slow("attacks/test_packages_monstrous.py", "very deep packages", "however_deep|lies_deeper"),
    _slow("attacks/test_packages_monstrous.py", "registries that lead on until their time is over", "without_an_end"),
    _slow("attacks/test_bombs_listed.py", "much at once", "while_much_is_taken_in"),
    _fast("attacks/test_kill.py", "[once]", "one kill of many"),
    _slow("attacks/test_kill.py", "a guard that is killed again and again"),
    _fast("attacks/test_bundles_without_end.py", "never_end", "one way of many"),
    _slow("attacks/test_bundles_without_end.py", "very large bundles"),
    _slow("upstreams/test_tree.py", "a process at every moment of its life", "at_any_moment"),
    _slow("attacks/test_asking_records.py", "servers that ask thousands of times", "without_end|very_much_at_once"),
    _slow("attacks/test_asking_leftovers.py", "hundreds of clients", "of_many"),
    _slow("gateway/test_answers.py", "floods", "flood_is_dropped|holds_up_nobody"),
    _slow("gateway/test_search_learning.py", "guards that start again", "outlasts_a_restart|forgotten_for_good"),
    _slow("attacks/test_taught_by_attackers.py", "a hundred searches and calls", "one_misled_agent"),
    _slow("web/pages/test_learned_words.py", "guards that start again", "where_learning_is_off"),
    _slow("gateway/test_hostile_clients.py", "thousands of clients", "thousands"),
    _fast("gateway/test_screening_limits.py", "[orders-mask]", "one of many forms"),
    _slow("gateway/test_screening_limits.py", "replies that are made to be work", "made_to_be_work"),
    _slow("properties/test_bits.py", "a copy of the database for every byte", "of_every_byte"),
    _slow("stories/test_serve.py", "each in a new interpreter", "path_too_long|no_place_for|somebody_else"),
    _slow("upstreams/test_events.py", "megabytes byte by byte", "twenty_megabytes"),
    _slow("upstreams/test_http_flood.py", "floods", "others_get_their_turns|what_has_no_end_is_left"),
    _slow("upstreams/test_orphans.py", "a guard that sweeps while others run", "sweeps_while_it_runs"),
    _fast("app/test_tls_listener.py", "reached_over_tls|[expired]|needs_a_token|none_fails", "some of many guards"),
    _slow("app/test_tls_listener.py", "a guard in a new interpreter for each", "test_"),
    _slow("stories/test_counts_after_a_kill.py", "guards that are killed and start again"),
    _fast("properties/test_shared_verification.py", "helpers_read_a_server|[first]|interrupt", "a few of many"),
    _slow("properties/test_shared_verification.py", "new interpreters that share the work", "helper|process"),
)
THINNED: Final = (
    "tests/attacks/*",
    "tests/cli/*",
    "tests/client/*",
    "tests/engines/*",
    "tests/gateway/*",
    "tests/guard/*",
    "tests/properties/test_the_log_justifies_every_call.py",
    "tests/settings/test_unknown.py",
    "tests/stories/*",
    "tests/web/*",
)


def tiers_of(file: str, cases: Mapping[str, bool]) -> dict[str, frozenset[Tier]]:
    """The tiers of all cases of a file: tests' names with their parameters, and whether they are under `@given`."""
    if any(cases.values()) and not generates(file):
        raise ValueError(f"{file} has to import hypothesis itself, or nobody knows that the slow tier has to read it")
    ruled = {case: rule.tier for case in cases for rule in reversed(RULES) if rule.fits(file, case)}
    others = [case for case in cases if case not in ruled]
    slow = left_out(file, others) if any(fnmatchcase(file, files) for files in THINNED) else set[str]()
    first = {case: ruled.get(case, Tier.SLOW if case in slow else Tier.FAST) for case in cases}
    return {
        case: frozenset(Tier) if tier is Tier.FAST and cases[case] else frozenset({tier})
        for case, tier in first.items()
    }


def left_out(file: str, cases: Iterable[str]) -> set[str]:
    """Those that the fast tier leaves to the slow one because it has others like them."""
    tests: dict[str, list[str]] = {}
    for case in cases:
        tests.setdefault(case.partition("[")[0], []).append(case)
    every = [case for alike in tests.values() for case in alike]
    kept = [case for test, alike in tests.items() for case in _one_of_each(CASES, alike, test)]
    return {*every}.difference(_one_of_each(CASES_OF_FILE, kept, file))


def _one_of_each(count: int, cases: Sequence[str], name: str) -> Iterator[str]:
    """Of so many, the one at another place each time: of two parameters with as many values, that is the diagonal."""
    for number, start in enumerate(range(0, len(cases), count)):
        some = cases[start : start + count]
        yield some[(crc32(name.encode()) + number) % len(some)]


def possible(file: str) -> frozenset[Tier]:
    """The tiers that cases of this file can be in."""
    found: set[Tier] = set()
    for rule in RULES:
        if fnmatchcase(file, rule.files):
            found.add(rule.tier)
            if not rule.cases:
                break
    else:
        found.add(Tier.FAST)
        if generates(file) or any(fnmatchcase(file, files) for files in THINNED):
            found.add(Tier.SLOW)
    return frozenset(Tier) if Tier.FAST in found and generates(file) else frozenset(found)


@cache
def generates(file: str) -> bool:
    """Whether cases of this file may be under `@given`."""
    return "hypothesis" in (ROOT / file).read_text()


def asked(tier: Tier | None, paths: Iterable[str]) -> Tier | None:
    """The tier that is run: None for all. Whoever names paths means what is in them."""
    return None if tier is Tier.FAST and [*paths] else tier


def prepare_examples(tier: Tier | None) -> None:
    """From now on tests generate as many examples as this tier has."""
    settings.register_profile(
        "patient",
        settings.get_profile(settings.get_current_profile_name()),
        deadline=None,  # no example is wrong because the machine has much to do
        suppress_health_check=[HealthCheck.too_slow],
    )
    few = settings.get_profile("patient").max_examples // FEWER
    settings.register_profile("fast", settings.get_profile("patient"), max_examples=few)
    settings.load_profile("fast" if tier is Tier.FAST else "patient")


def examples(number: int) -> int:
    """So many examples, or the share of them that this tier has."""
    return max(1, number // FEWER) if settings.get_current_profile_name() == "fast" else number
