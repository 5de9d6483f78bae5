"""An authority of the test's own, and the certificates that it gives to servers."""

import datetime as dt
import ipaddress
import ssl
from dataclasses import dataclass, field
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

DAY = dt.timedelta(days=1)
FOR_CLIENTS = ExtendedKeyUsageOID.CLIENT_AUTH


@dataclass(frozen=True)
class Signer:
    """Whoever signs, by what is called its name."""

    name: str
    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))

    @property
    def subject(self) -> x509.Name:
        return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, self.name)])


class Authority:
    """Signs certificates. `trust` is a client's context that believes it and nobody else, `file` its certificate."""

    def __init__(self, folder: Path, name: str = "authority") -> None:
        self._folder = folder
        self._us = Signer(name)
        certificate = (
            _begun(self._us, self._us, -3 * DAY, DAY)
            .add_extension(x509.BasicConstraints(ca=True, path_length=1), critical=True)
            .add_extension(_usage(signs=True), critical=True)
            .sign(self._us.key, hashes.SHA256())
        )
        self.file = folder / f"{name}.pem"
        self.file.write_bytes(_pem(certificate))
        self.trust = ssl.create_default_context(cafile=str(self.file))

    def server(
        self,
        host: str = "127.0.0.1",
        lasts: dt.timedelta = DAY,
        begins: dt.timedelta = -3 * DAY,
        usage: x509.ObjectIdentifier = ExtendedKeyUsageOID.SERVER_AUTH,
    ) -> ssl.SSLContext:
        """The context of a server with a certificate for `host`."""
        them = Signer(host)
        return self._context(them, _pem(_signed(them, self._us, begins, lasts, usage)))

    def server_by_another(self, another: str = "another.example", host: str = "127.0.0.1") -> ssl.SSLContext:
        """With one that another server has signed, which has a certificate of ours and is no authority."""
        them, signer = Signer(host), Signer(another)
        chain = _pem(_signed(them, signer)) + _pem(_signed(signer, self._us))
        return self._context(them, chain)

    def server_by_itself(self, host: str = "127.0.0.1") -> ssl.SSLContext:
        """With one that nobody else has signed."""
        them = Signer(host)
        return self._context(them, _pem(_signed(them, them)))

    def _context(self, them: Signer, chain: bytes) -> ssl.SSLContext:
        pem, secret = self._folder / f"{them.name}.pem", self._folder / f"{them.name}.key"
        pem.write_bytes(chain)
        secret.write_bytes(
            them.key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
        )
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(pem, secret)
        return context


def _signed(
    them: Signer,
    signer: Signer,
    begins: dt.timedelta = -3 * DAY,
    lasts: dt.timedelta = DAY,
    usage: x509.ObjectIdentifier = ExtendedKeyUsageOID.SERVER_AUTH,
) -> x509.Certificate:
    try:
        name: x509.GeneralName = x509.IPAddress(ipaddress.ip_address(them.name))
    except ValueError:
        name = x509.DNSName(them.name)
    return (
        _begun(them, signer, begins, lasts)
        .add_extension(x509.SubjectAlternativeName([name]), critical=True)
        .add_extension(_usage(signs=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
        .sign(signer.key, hashes.SHA256())
    )


def _begun(them: Signer, signer: Signer, begins: dt.timedelta, lasts: dt.timedelta) -> x509.CertificateBuilder:
    now = dt.datetime.now(dt.UTC)
    theirs = x509.SubjectKeyIdentifier.from_public_key(them.key.public_key())
    signers = x509.SubjectKeyIdentifier.from_public_key(signer.key.public_key())
    return (
        x509.CertificateBuilder()
        .subject_name(them.subject)
        .issuer_name(signer.subject)
        .public_key(them.key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now + begins)
        .not_valid_after(now + lasts)
        .add_extension(theirs, critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(signers), critical=False)
    )


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


def _usage(*, signs: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs,
        crl_sign=signs,
        encipher_only=False,
        decipher_only=False,
    )
