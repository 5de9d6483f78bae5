"""The current metrics, read from memory.

Rule kept here: calls wait only while the numbers are copied. The rest is done in another thread.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import accumulate

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.core import Metric as Family

from mcpguard.domain.calls.records import RecordKind
from mcpguard.domain.servers.connections import ConnectionState
from mcpguard.domain.servers.standing import UpstreamStanding
from mcpguard.guard.guard import Guard
from mcpguard.guard.traffic.counts import BUCKETS, MOST_RULES, Durations
from mcpguard.guard.traffic.tallies import OTHER
from mcpguard.web.metrics import names
from mcpguard.web.metrics.names import Metric, MetricKind

Values = Iterable[tuple[tuple[str, ...], float]]
FamilyMaker = Callable[[], Family]


def metric_families(guard: Guard) -> list[FamilyMaker]:
    """Return all metric families, each computed where there is time for it."""
    guard.counting.forget()
    return [*_calls(guard), *_programs(guard), *_servers(guard), *_ledger(guard), *_refused(guard)]


def _calls(guard: Guard) -> Iterator[FamilyMaker]:
    counting = guard.counting
    yield _family(names.CALLS, counting.calls.items())
    yield _histogram(names.WHOLE, counting.whole)
    yield _histogram(names.OWN, counting.own)
    yield _family(names.FOUND, counting.found.items())
    yield _one(names.HELD, guard.held.waiting)
    used = guard.searching.context_use
    yield _family(names.SPARED, [(("in_reach",), used.in_reach), (("shown",), used.shown)])


def _programs(guard: Guard) -> Iterator[FamilyMaker]:
    programs = guard.programs
    yield _one(names.SUSPENDED, 0 if programs is None else programs.suspended)
    if programs is not None:
        yield _family(names.RUNS, programs.counts.ended.items())
        yield _histogram(names.RUN_SECONDS, programs.counts.took)


def _servers(guard: Guard) -> Iterator[FamilyMaker]:
    standings: Counter[str] = Counter({standing.value: 0 for standing in UpstreamStanding})
    states: Counter[tuple[str, str]] = Counter()
    for name, standing, state in guard.servers.states():
        standings[standing.value] += 1
        label = guard.counting.label(name)
        states.update({(label, each.value): int(each is state) for each in ConnectionState})
    yield _family(names.STATES, states.items())
    yield _family(names.SERVERS, (((standing,), count) for standing, count in standings.items()))
    yield _family(names.DEFINED, (((rule,), count) for rule, count in _defined(guard).items()))
    tally = guard.inbox.tally()
    yield _one(names.GRAVE, tally.grave)
    yield _one(names.UNREAD, tally.unread)
    yield _one(names.UNINSPECTED, tally.uninspected)


def _defined(guard: Guard) -> Counter[str]:
    rules: Counter[str] = Counter()
    for known in guard.servers.every():
        for finding, _ in known.findings():
            rules[finding.rule if finding.rule in rules or len(rules) < MOST_RULES else OTHER] += 1
    return rules


def _ledger(guard: Guard) -> Iterator[FamilyMaker]:
    depth = guard.depth()
    yield _one(names.READY, guard.readiness().ready)
    yield _one(names.RECORDS, depth.records)
    yield _one(names.SIGNED, depth.signed_to)
    yield _one(names.SIGNED_AT, (depth.signed_at or 0) / 1e6)
    yield _one(names.ANCHORED, depth.anchors.to if depth.anchors else 0)
    yield _one(names.UNANCHORED, bool(depth.anchors and depth.anchors.failing))
    yield _one(names.ROLLED_BACK, bool(depth.anchors and depth.anchors.rolled_back))
    yield _one(names.OPEN, depth.open_entries)
    yield _one(names.REFUSED, depth.refused)
    yield _one(names.QUEUED, guard.queued_writes)


def _refused(guard: Guard) -> Iterator[FamilyMaker]:
    counted = guard.tallies.since_start.items()
    turned = (((door, why), count) for (kind, door, why), count in counted if kind is RecordKind.TURNED_AWAY)
    yield _family(names.TURNED, turned)
    unsigned = (((why,), count) for (kind, _, why), count in counted if kind is RecordKind.SIGN_IN_REFUSED)
    yield _family(names.UNSIGNED, unsigned)
    yield _family(names.BUILD, [((guard.facts.version,), 1)])
    if guard.tls is not None:
        yield _one(names.TLS_DAYS, guard.tls.days_left)
        yield _one(names.TLS_KEPT, bool(guard.tls.trouble))


def _family(metric: Metric, values: Values) -> FamilyMaker:
    return partial(_made, metric, list(values))


def _made(metric: Metric, values: Values) -> Family:
    make = CounterMetricFamily if metric.kind is MetricKind.COUNTER else GaugeMetricFamily
    family = make(metric.name, metric.help, labels=metric.labels)
    for labels, value in sorted(values):
        family.add_metric(labels, value)
    return family


def _one(metric: Metric, value: float) -> FamilyMaker:
    return _family(metric, [((), value)])


def _histogram(metric: Metric, values: Mapping[str, Durations]) -> FamilyMaker:
    copied = [(label, tuple(durations.counts), durations.total) for label, durations in values.items()]
    return partial(_made_histogram, metric, copied)


def _made_histogram(metric: Metric, values: Iterable[tuple[str, Iterable[int], float]]) -> Family:
    family = HistogramMetricFamily(metric.name, metric.help, labels=metric.labels)
    bounds = [*map(str, BUCKETS), "+Inf"]
    for label, counts, total in sorted(values):
        family.add_metric([label], list(zip(bounds, accumulate(counts), strict=True)), total)
    return family
