"""Client certificates, and the names in them by which callers are known.

A name is written as its kind and its value: `dns:agent.example`, `uri:spiffe://example/agent`, `email:agent@example`,
or `subject:CN=agent,O=Example` (RFC 4514).
"""

import re
from dataclasses import dataclass
from typing import Final

from mcpguard.domain.errors import InvalidName

_NAME: Final = re.compile(r"(?P<kind>dns|uri|email|subject):(?P<value>[ -~\u00a1-\uffff]{1,500})")


@dataclass(frozen=True, slots=True)
class ClientCertificate:
    """A certificate that a client showed, and that an authority of the settings has signed.

    `digest`: its SHA-256 (hex). `expires`: when it does (UTC, microseconds). Connections may last longer than that.
    """

    names: frozenset[str]
    digest: str
    expires: int


def certificate_name(text: str) -> str:
    """Return a name as it is compared: names of hosts in lower case. Raises InvalidName."""
    found = _NAME.fullmatch(text.strip())
    if found is None or "*" in found["value"]:
        raise InvalidName(
            "write a name as the certificate has it: dns:agent.example, uri:spiffe://example/agent, "
            "email:agent@example.com or subject:CN=agent,O=Example, without wildcards"
        )
    kind, value = found["kind"], found["value"].strip()
    return f"{kind}:{value.lower() if kind == 'dns' else value}"
