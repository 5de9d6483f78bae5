"""Makes the rules for secrets from those of gitleaks: `python -m tests.gitleaks config/gitleaks.toml`.

Rules kept here:
1. A rule refuses (`sure`) only if its pattern alone tells a secret: a prefix that nothing else has, and a length. Those
   that go by a name in front of the value, and those in `LOOSE`, are noted.
2. Rules for source code are left out: they go by the path of a file, or find whatever follows the word `key`.
3. What may stand behind a secret is any character that cannot belong to it: arguments are no lines of code.
"""

import json
import sys
import tomllib
from pathlib import Path
from typing import Any

from tests.process import ROOT

TARGET = ROOT / "mcpguard" / "policy" / "secrets" / "gitleaks.json"
NAMED = r"[\w.-]{0,50}?"
"""Begins a pattern that goes by a name in front of the value."""
BEHIND = r"""(?:[\x60'"\s;]|\\[nr]|$)"""
ANYTHING_ELSE = r"(?:[^0-9A-Za-z_-]|$)"
LEFT_OUT = {"generic-api-key", "freemius-secret-key", "nuget-config-password", "pkcs12-file", "hashicorp-tf-password"}
LOOSE = {
    "curl-auth-header": "a command with a header, whatever it is",
    "curl-auth-user": "a command with a name and a password, whatever they are",
    "facebook-access-token": "begins with any number",
    "facebook-page-access-token": "data in base64 may look so",
    "flutterwave-public-key": "is public",
    "jwt": "continuation tokens look so too",
    "jwt-base64": "continuation tokens look so too",
    "kubernetes-secret-yaml": "a document that is about secrets, and may hold none",
    "sourcegraph-access-token": "every digest of 40 digits looks so",
    "square-access-token": "data in base64 may look so",
    "twilio-api-key": "the end of a word before a digest looks so",
    "vault-service-token": "a member of a short name looks so",
}
OURS: list[dict[str, Any]] = [
    {
        "id": "aws-secret-access-key",
        "pattern": r"(?i)secret_?access_?key[^0-9a-z\n]{1,6}([0-9A-Za-z/+]{40})(?:[^0-9A-Za-z/+=]|$)",
        "keywords": ["secret_access_key", "secretaccesskey"],
        "sure": True,
        "entropy": 3.5,
        "not": ["EXAMPLEKEY$"],
    },
]
"""What gitleaks finds only by a rule that is left out: the other half of a pair of which it finds the first."""
NONE = {"sourcegraph-access-token": [r"^[a-fA-F0-9]{40}$"]}
"""What is none, though a rule finds it: very much is known by 40 digits."""


def made(source: dict[str, Any]) -> list[dict[str, Any]]:
    """The rules as they are kept."""
    return [_kept(rule) for rule in source["rules"] if rule["id"] not in LEFT_OUT] + OURS


def _kept(rule: dict[str, Any]) -> dict[str, Any]:
    pattern = rule["regex"].replace(BEHIND, ANYTHING_ELSE)
    allowed = [each for group in rule.get("allowlists", ()) for each in group.get("regexes", ())]
    allowed += NONE.get(rule["id"], [])
    return {
        "id": rule["id"],
        "pattern": pattern,
        "keywords": rule["keywords"],
        "sure": NAMED not in pattern and rule["id"] not in LOOSE,
        **({"entropy": rule["entropy"]} if "entropy" in rule else {}),
        **({"group": rule["secretGroup"]} if "secretGroup" in rule else {}),
        **({"not": allowed} if allowed else {}),
    }


def main(path: str) -> None:
    rules = made(tomllib.loads(Path(path).read_text()))
    lines = ",\n".join(json.dumps(rule, ensure_ascii=True) for rule in rules)
    TARGET.write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    main(sys.argv[1])
