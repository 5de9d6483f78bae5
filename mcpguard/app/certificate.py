"""The certificate that the network listener shows, and its exchange while the guard runs.

Rules kept here:
1. A pair of files that cannot be used never replaces one that works: it is loaded into a context of its own, which new
   connections get only once it is whole. Open connections keep what they were made with.
2. A private key that everyone may read is refused, and so is an encrypted one: nobody is there to type its password.
3. TLS 1.2 and newer, with the ciphers that Python and OpenSSL choose.
4. Client certificates are asked for where an authority for them is set. One that it has not signed ends the connection;
   none at all does not. TLS is 1.3 then and no handshake is resumed, so that the authority of this moment decides.
"""

import ssl
from datetime import UTC, datetime
from pathlib import Path
from stat import S_IROTH
from typing import Final

import structlog
from cryptography.x509 import load_pem_x509_certificates

from mcpguard.domain.errors import StoreUnavailable

_LARGEST: Final = 1024 * 1024
log = structlog.get_logger("mcpguard")


class UnusableCertificate(Exception):
    """A certificate or its key cannot be used. The sentence says why, and what to do."""


class TlsCertificate:
    """The certificate and key of two files, and the authorities for clients of a third, read again by `reload`."""

    def __init__(self, certificate: Path, key: Path, client_ca: Path | None = None) -> None:
        """Raises StoreUnavailable where they cannot be used."""
        self._pair = certificate, key
        self._client_ca = client_ca
        self.files = {certificate, key} if client_ca is None else {certificate, key, client_ca}
        self.trouble = ""
        """Why the files as they are now are not used; empty where they are."""
        try:
            self._current, self.expires = read_pair(certificate, key, client_ca)
        except UnusableCertificate as error:
            raise StoreUnavailable(f"cannot speak TLS: {error}") from error
        self.context = _context(client_ca)
        self.context.sni_callback = self._use_current
        log.info("tls.loaded", certificate=str(certificate), expires=self.expires.isoformat())

    @property
    def days_left(self) -> float:
        """For how many days the certificate in use is valid; below 0 once it has expired."""
        return (self.expires - datetime.now(UTC)).total_seconds() / 86_400

    async def reload(self) -> None:
        """Read the files again. What cannot be used, or has expired, replaces nothing."""
        try:
            context, expires = read_valid_pair(*self._pair, self._client_ca)
        except UnusableCertificate as error:
            self.trouble = str(error)
            log.error("tls.kept", why=self.trouble, expires=self.expires.isoformat())
            return
        self._current, self.expires, self.trouble = context, expires, ""
        log.info("tls.loaded", certificate=str(self._pair[0]), expires=expires.isoformat())

    def _use_current(self, connection: ssl.SSLObject | ssl.SSLSocket, _name: str | None, _context: object) -> None:
        """Give a new connection the certificate of this moment; OpenSSL asks for each one, whatever name it wants."""
        connection.context = self._current


def read_valid_pair(certificate: Path, key: Path, client_ca: Path | None = None) -> tuple[ssl.SSLContext, datetime]:
    """Read a pair that has not expired. Raises UnusableCertificate."""
    context, expires = read_pair(certificate, key, client_ca)
    if expires <= datetime.now(UTC):
        raise UnusableCertificate(f"{certificate} has expired on {expires:%Y-%m-%d}")
    return context, expires


def read_pair(certificate: Path, key: Path, client_ca: Path | None = None) -> tuple[ssl.SSLContext, datetime]:
    """Return a context with this pair, and when the certificate expires. Raises UnusableCertificate."""
    context = _context(client_ca)
    try:
        with certificate.open("rb") as file:
            chain = load_pem_x509_certificates(file.read(_LARGEST))
        if key.stat().st_mode & S_IROTH:
            raise UnusableCertificate(f"{key} may be read by everyone (chmod o-r {key})")
        context.load_cert_chain(certificate, key, password=_no_password)
    except ssl.SSLError as error:
        raise UnusableCertificate(f"{key} is no key of {certificate}, is encrypted, or is no PEM file") from error
    except OSError as error:
        raise UnusableCertificate(f"{error.filename or certificate} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise UnusableCertificate(f"{certificate} is no certificate in PEM") from error
    return context, chain[0].not_valid_after_utc


def _context(client_ca: Path | None) -> ssl.SSLContext:
    """Return a context without a certificate of its own. Raises UnusableCertificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    if client_ca is None:
        return context
    try:
        context.load_verify_locations(client_ca)
    except ssl.SSLError as error:
        raise UnusableCertificate(f"{client_ca} (tls.client_ca) has no certificate in PEM") from error
    except OSError as error:
        raise UnusableCertificate(f"{client_ca} (tls.client_ca) cannot be read: {error.strerror}") from error
    context.verify_mode = ssl.CERT_OPTIONAL
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.num_tickets = 0
    return context


def _no_password() -> bytes:
    return b""
