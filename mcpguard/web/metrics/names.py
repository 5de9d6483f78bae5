"""The names of all metrics. docs/metrics.md is made from this list.

Rule kept here: the set of label values is bounded. Server names are those of existing servers, at most `MOST_SERVERS`;
all other values are fixed words.
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
    "Ended calls, by their first verdict and their outcome.",
    ("server", "effect", "verdict", "outcome", "reason"),
)
WHOLE: Final = Metric(
    "mcpguard_call_seconds",
    MetricKind.HISTOGRAM,
    "Duration of calls, from request to answer.",
    ("server",),
)
OWN: Final = Metric(
    "mcpguard_call_own_seconds",
    MetricKind.HISTOGRAM,
    "Time that calls spent in the guard itself, without servers and approvals.",
    ("effect",),
)
STATES: Final = Metric(
    "mcpguard_server_state",
    MetricKind.GAUGE,
    "Connection state of each server: 1 for its current state.",
    ("server", "state"),
)
SERVERS: Final = Metric("mcpguard_servers", MetricKind.GAUGE, "Servers by status.", ("standing",))
HELD: Final = Metric("mcpguard_held_calls", MetricKind.GAUGE, "Calls held for approval.")
RUNS: Final = Metric(
    "mcpguard_programs",
    MetricKind.COUNTER,
    "Programs that have ended or were suspended, by their outcome and the code of their error.",
    ("outcome", "failure"),
)
RUN_SECONDS: Final = Metric(
    "mcpguard_program_seconds", MetricKind.HISTOGRAM, "Duration of programs with their calls.", ("outcome",)
)
SUSPENDED: Final = Metric("mcpguard_suspended_programs", MetricKind.GAUGE, "Programs that wait for an approval.")
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
    "Records up to the last checkpoint in the external anchor file; 0 without one.",
)
UNANCHORED: Final = Metric(
    "mcpguard_ledger_anchor_failing",
    MetricKind.GAUGE,
    "1 while checkpoints cannot be appended to the external anchor file, else 0.",
)
ROLLED_BACK: Final = Metric(
    "mcpguard_ledger_rolled_back",
    MetricKind.GAUGE,
    "1 if the guard started with a store that contradicts the external anchor file, else 0.",
)
OPEN: Final = Metric("mcpguard_ledger_open_entries", MetricKind.GAUGE, "Calls that are open in the audit log.")
REFUSED: Final = Metric(
    "mcpguard_ledger_refused",
    MetricKind.GAUGE,
    "Records refused while the audit log cannot be written; else 0.",
)
QUEUED: Final = Metric("mcpguard_ledger_queue", MetricKind.GAUGE, "Jobs waiting to be written to the database.")
SPARED: Final = Metric(
    "mcpguard_definition_bytes",
    MetricKind.COUNTER,
    "Bytes of definitions that were in reach when an agent listed the guard face, and that it was shown instead.",
    ("what",),
)
FOUND: Final = Metric(
    "mcpguard_findings",
    MetricKind.COUNTER,
    "Findings in arguments and responses of calls, once per call, by rule.",
    ("where", "rule"),
)
DEFINED: Final = Metric(
    "mcpguard_definition_findings",
    MetricKind.GAUGE,
    "Findings in definitions and launches of servers, by rule.",
    ("rule",),
)
TLS_DAYS: Final = Metric(
    "mcpguard_tls_certificate_days",
    MetricKind.GAUGE,
    "Days until the certificate of the network listener expires. Only with TLS.",
)
TLS_KEPT: Final = Metric(
    "mcpguard_tls_certificate_kept",
    MetricKind.GAUGE,
    "1 while the files of the certificate cannot be used, and the one before is; else 0. Only with TLS.",
)
GRAVE: Final = Metric(
    "mcpguard_grave_findings",
    MetricKind.GAUGE,
    "Grave findings in definitions and launches: hard, or of severity critical or high.",
)
UNREAD: Final = Metric(
    "mcpguard_unread_approvals",
    MetricKind.GAUGE,
    "Servers and capabilities that are approved, with grave findings that nobody confirmed reading.",
)
UNINSPECTED: Final = Metric("mcpguard_failed_inspections", MetricKind.GAUGE, "Servers whose last inspection failed.")
TURNED: Final = Metric(
    "mcpguard_turned_away", MetricKind.COUNTER, "Requests refused before they became calls.", ("door", "why")
)
UNSIGNED: Final = Metric("mcpguard_sign_ins_refused", MetricKind.COUNTER, "Attempts to sign in that failed.", ("why",))
BUILD: Final = Metric("mcpguard_build_info", MetricKind.GAUGE, "1, with the running version.", ("version",))

METRICS: Final = (
    CALLS,
    WHOLE,
    OWN,
    STATES,
    SERVERS,
    HELD,
    RUNS,
    RUN_SECONDS,
    SUSPENDED,
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
    SPARED,
    DEFINED,
    TLS_DAYS,
    TLS_KEPT,
    GRAVE,
    UNREAD,
    UNINSPECTED,
    TURNED,
    UNSIGNED,
    BUILD,
)
