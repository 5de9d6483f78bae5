"""Checks the certificate with which the guard speaks TLS."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

from mcpguard.app.certificate import UnusableCertificate, read_pair
from mcpguard.cli.doctor.evidence import DoctorEvidence
from mcpguard.cli.doctor.finding import DoctorFinding, notice, ok, problem

SOON: Final = 14
"""Days before its end from which on a certificate needs somebody."""
RENEW: Final = "put a new one into its files: a guard that runs reads them again within seconds"


def certificate(evidence: DoctorEvidence) -> Iterator[DoctorFinding]:
    """Tell whether the certificate can be used, and for how long."""
    tls = evidence.settings.tls
    if tls.certificate is None:
        yield ok("tls.certificate", "the guard speaks no TLS, and listens on this host only")
        return
    try:
        _, expires = read_pair(tls.certificate, tls.key or tls.certificate, tls.client_ca)
    except UnusableCertificate as error:
        yield problem("tls.certificate", f"the certificate cannot be used: {error}", RENEW)
        return
    days = (expires - datetime.now(UTC)).days
    if days < 0:
        yield problem("tls.certificate", f"{tls.certificate} has expired on {expires:%Y-%m-%d}", RENEW)
    elif days <= SOON:
        yield notice("tls.certificate", f"{tls.certificate} expires on {expires:%Y-%m-%d}", RENEW)
    else:
        yield ok("tls.certificate", f"{tls.certificate} is valid until {expires:%Y-%m-%d}")
