"""Who is at the other end of a network connection."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class NetworkPeer:
    """An address, and the SHA-256 of the certificate that was shown there (hex). Both are empty on this host."""

    address: str = ""
    certificate: str = ""


THIS_HOST: Final = NetworkPeer()
"""The peer of a request that came from this host."""
