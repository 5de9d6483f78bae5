"""Reads the certificate that a client showed on a connection, if it showed one that was verified."""

import asyncio
import ssl

from cryptography import x509
from cryptography.hazmat.primitives import hashes

from mcpguard.domain.certificates import ClientCertificate, certificate_name
from mcpguard.domain.errors import InvalidName

_KINDS = ((x509.DNSName, "dns"), (x509.UniformResourceIdentifier, "uri"), (x509.RFC822Name, "email"))


def certificate_of(transport: asyncio.BaseTransport) -> ClientCertificate | None:
    """Return the client's certificate; None without TLS, and where none was shown."""
    connection = transport.get_extra_info("ssl_object")
    shown = connection.getpeercert(binary_form=True) if isinstance(connection, ssl.SSLObject | ssl.SSLSocket) else None
    return None if shown is None else read_certificate(shown)


def read_certificate(shown: bytes) -> ClientCertificate:
    """Read a certificate that was verified already. What is no name of a caller in it is left out, and so are all
    names of one that is not written as it should be: it names nobody, and breaks nothing.
    """
    certificate = x509.load_der_x509_certificate(shown)
    try:
        names = {name for text in _names(certificate) if (name := _compared(text)) is not None}
    except (ValueError, x509.DuplicateExtension):
        names = set()
    digest = certificate.fingerprint(hashes.SHA256()).hex()
    return ClientCertificate(frozenset(names), digest, int(certificate.not_valid_after_utc.timestamp() * 1_000_000))


def _names(certificate: x509.Certificate) -> list[str]:
    found = [f"subject:{certificate.subject.rfc4514_string()}"]
    try:
        alternatives = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return found
    return found + [f"{word}:{name}" for kind, word in _KINDS for name in alternatives.get_values_for_type(kind)]


def _compared(text: str) -> str | None:
    try:
        return certificate_name(text)
    except InvalidName:
        return None
