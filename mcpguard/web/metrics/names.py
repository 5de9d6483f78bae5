"""The names of all metrics. docs/metrics.md is made from this list.

Rule kept here: the values of labels are bounded. Names of servers are those of existing servers, at most
`MOST_SERVERS`; all other values are fixed words.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class MetricKind(StrEnum):
    """The kind of a metric, as Prometheus knows it."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric. A counter is shown with `_total` behind its name."""

    name: str
    kind: MetricKind
    help: str
    labels: tuple[str, ...] = ()

    @property
    def exposed_name(self) -> str:
        return f"{self.name}_total" if self.kind is MetricKind.COUNTER else self.name


CALLS: Final = Metric(
    "mcpguard_calls",
    MetricKind.COUNTER,
    "Calls that have ended, by the verdict they began with and how they ended.",
    ("server", "effect", "verdict", "outcome", "reason"),
)
WHOLE: Final = Metric(
    "mcpguard_call_seconds",
    MetricKind.HISTOGRAM,
    "How long calls took, from being asked for to being answered.",
    ("server",),
)
OWN: Final = Metric(
    "mcpguard_call_own_seconds",
    MetricKind.HISTOGRAM,
    "How long the guard itself took for calls, without the time of servers and of people.",
    ("effect",),
)
STATES: Final = Metric(
    "mcpguard_server_state",
    MetricKind.GAUGE,
    "Servers by the state of their connection: 1 at the one it has.",
    ("server", "state"),
)
SERVERS: Final = Metric("mcpguard_servers", MetricKind.GAUGE, "Servers by where they stand.", ("standing",))
HELD: Final = Metric("mcpguard_held_calls", MetricKind.GAUGE, "Calls that wait for a person.")
READY: Final = Metric(
    "mcpguard_ready", MetricKind.GAUGE, "1 while calls can be taken, 0 while the audit log cannot be written."
)
RECORDS: Final = Metric("mcpguard_ledger_records", MetricKind.GAUGE, "Records in the audit log.")
SIGNED: Final = Metric("mcpguard_ledger_signed_records", MetricKind.GAUGE, "Records up to the last signed checkpoint.")
SIGNED_AT: Final = Metric(
    "mcpguard_ledger_signed_timestamp_seconds", MetricKind.GAUGE, "When the last checkpoint was signed; 0 if none was."
)
ANCHORED: Final = Metric(
    "mcpguard_ledger_anchored_records",
    MetricKind.GAUGE,
    "Records up to the last checkpoint in the anchor file; 0 without one.",
)
UNANCHORED: Final = Metric(
    "mcpguard_ledger_anchor_failing",
    MetricKind.GAUGE,
    "1 while checkpoints cannot be appended to the anchor file, else 0.",
)
ROLLED_BACK: Final = Metric(
    "mcpguard_ledger_rolled_back",
    MetricKind.GAUGE,
    "1 where the guard started with a store that is not what the anchor file has, else 0.",
)
OPEN: Final = Metric("mcpguard_ledger_open_entries", MetricKind.GAUGE, "Calls that are open in the audit log.")
REFUSED: Final = Metric(
    "mcpguard_ledger_refused",
    MetricKind.GAUGE,
    "Records that could not be taken since the audit log cannot be written; else 0.",
)
QUEUED: Final = Metric("mcpguard_ledger_queue", MetricKind.GAUGE, "Jobs that wait to be written to the database.")
FOUND: Final = Metric(
    "mcpguard_findings",
    MetricKind.COUNTER,
    "What was found in arguments and in what servers said during calls, once for each call, by rule.",
    ("where", "rule"),
)
DEFINED: Final = Metric(
    "mcpguard_definition_findings",
    MetricKind.GAUGE,
    "Findings in what servers offer and how they are launched, by rule.",
    ("rule",),
)
GRAVE: Final = Metric(
    "mcpguard_grave_findings",
    MetricKind.GAUGE,
    "Of these, the grave ones: hard, or of severity critical or high.",
)
UNREAD: Final = Metric(
    "mcpguard_unread_approvals",
    MetricKind.GAUGE,
    "Servers and capabilities that are approved, with grave findings that nobody confirmed reading.",
)
UNINSPECTED: Final = Metric("mcpguard_failed_inspections", MetricKind.GAUGE, "Servers whose last inspection failed.")
TURNED: Final = Metric(
    "mcpguard_turned_away", MetricKind.COUNTER, "What was refused at a door before it was a call.", ("door", "why")
)
UNSIGNED: Final = Metric("mcpguard_sign_ins_refused", MetricKind.COUNTER, "Attempts to sign in that failed.", ("why",))
BUILD: Final = Metric("mcpguard_build_info", MetricKind.GAUGE, "1, with what runs.", ("version",))

METRICS: Final = (
    CALLS,
    WHOLE,
    OWN,
    STATES,
    SERVERS,
    HELD,
    READY,
    RECORDS,
    SIGNED,
    SIGNED_AT,
    ANCHORED,
    UNANCHORED,
    ROLLED_BACK,
    OPEN,
    REFUSED,
    QUEUED,
    FOUND,
    DEFINED,
    GRAVE,
    UNREAD,
    UNINSPECTED,
    TURNED,
    UNSIGNED,
    BUILD,
)
