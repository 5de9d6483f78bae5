"""The records behind the examples of docs/ocsf.md, by the names that these have there.

`python -m tests.ledger.export.ocsf_examples` writes them into the page anew.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, Final

import orjson

from mcpguard.ledger.export.line import ExportLine
from mcpguard.ledger.export.ocsf.form import Ocsf
from tests.documents import DOCS

PAGE: Final = DOCS / "ocsf.md"
HASH: Final = bytes(range(32))
ENTRY: Final = "0199d8a4-7c1e-7b60-9f3e-2f6a1c9b0e11"
_CALL: Final = {"entry": ENTRY, "server": "files", "capability": "tool", "name": "read_file", "effect": "read"}
_AGENT: Final = {"caller": "c-7f3a", "caller_label": "build agent"}
_ADA: Final = {"user": "u-11d0", "user_name": "ada"}

EXAMPLES: Final[Mapping[str, dict[str, Any]]] = {
    "opened": {
        "kind": "opened",
        **_CALL,
        **_AGENT,
        "client": "claude-code 2.1",
        "face": "guard",
        "method": "tools/call",
        "operation": "read",
        "declared": True,
        "verdict": "allow",
        "settings": "5f1c",
        "trace": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    },
    "closed": {
        "kind": "closed",
        **_CALL,
        **_AGENT,
        "outcome": "answered",
        "executed": "yes",
        "took_us": 31_402,
        "screened": "mask",
        "found": "secret.github",
        "masked": 1,
    },
    "refused": {
        "kind": "closed",
        **_CALL,
        **_AGENT,
        "outcome": "refused",
        "executed": "no",
        "reason": "capability:changed",
        "took_us": 0,
    },
    "decided": {
        "kind": "decided",
        "decision": "d-90",
        "answer": "block",
        "server": "files",
        "upstream": "s-2",
        "before": "approved",
        "after": "blocked",
        "why": "it reads mail",
        "by": "user:u-11d0 (ada)",
        "via": "api",
    },
    "signed_in": {
        "kind": "signed_in",
        **_ADA,
        "role": "admin",
        "session": "n-5",
        "method": "password",
        "peer": "192.0.2.7",
    },
    "listed": {
        "kind": "listed",
        "server": "files",
        "upstream": "s-2",
        "capabilities": 3,
        "new": 3,
        "findings": 1,
        "hard": 1,
        "risk": 90,
        "rules": "steer.order hidden.tags",
    },
    "pruned": {"kind": "pruned", "what": "bodies", "first": 1, "last": 6},
}


def line(said: Mapping[str, Any], seq: int = 7) -> ExportLine:
    """A record that says this, as it lies in a ledger."""
    whole = {"v": 1, "chain": "main", "seq": seq, "at": 1_732_345_678_901_234, **said}
    return ExportLine("main", seq, HASH, orjson.dumps(whole, option=orjson.OPT_SORT_KEYS), whole)


def place(name: str) -> re.Pattern[str]:
    """Where an example stands on the page."""
    return re.compile(rf"(?<=<!-- {name} -->\n```json\n).*?(?=```)", re.DOTALL)


def written() -> str:
    """The page with its examples as they would be today."""
    page = PAGE.read_text()
    for name, said in EXAMPLES.items():
        event = json.dumps(json.loads(Ocsf().line(line(said))), indent=1) + "\n"
        page = place(name).sub(event.replace("\\", r"\\"), page)
    return page


if __name__ == "__main__":
    PAGE.write_text(written())
