"""Certificates for a guard that speaks TLS, as an authority would have made them."""

from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address
from pathlib import Path
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

NAME = "guard.example"


class Pair(NamedTuple):
    """The files of a certificate and its key."""

    certificate: Path
    key: Path


def pair(folder: Path, *, days: float = 30) -> Pair:
    """A certificate of its own authority for `NAME` and this host, in a folder, and its key."""
    folder.mkdir(parents=True, exist_ok=True)
    made = Pair(folder / "cert.pem", folder / "key.pem")
    write(made, days=days)
    return made


def write(to: Pair, *, days: float = 30, password: bytes | None = None) -> None:
    """Put a new certificate and its key into these files, as a program that renews them does."""
    key = ec.generate_private_key(ec.SECP256R1())
    names = [x509.DNSName(NAME), x509.DNSName("localhost"), x509.IPAddress(IPv4Address("127.0.0.1"))]
    certificate = _begun(NAME, NAME, key, days, names).sign(key, hashes.SHA256())
    locked = NoEncryption() if password is None else BestAvailableEncryption(password)
    _replace(to.key, key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, locked))
    _replace(to.certificate, certificate.public_bytes(Encoding.PEM))


class Authority:
    """Somebody who signs certificates of clients. `file`: the authority's own certificate."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        own = _begun("authority", "authority", self._key, 365, []).add_extension(
            x509.BasicConstraints(ca=True, path_length=None), critical=True
        )
        self.file = folder / "authority.pem"
        self.file.write_bytes(own.sign(self._key, hashes.SHA256()).public_bytes(Encoding.PEM))

    def issue(self, name: str, days: float = 30) -> Pair:
        """A certificate for a client with this name."""
        key = ec.generate_private_key(ec.SECP256R1())
        certificate = _begun("client", "authority", key, days, [x509.DNSName(name)]).sign(self._key, hashes.SHA256())
        made = Pair(self._folder / f"{name}-{days}.pem", self._folder / f"{name}-{days}-key.pem")
        made.certificate.write_bytes(certificate.public_bytes(Encoding.PEM))
        made.key.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        return made


def digest_of(shown: Pair) -> str:
    """The SHA-256 of a certificate."""
    return x509.load_pem_x509_certificate(shown.certificate.read_bytes()).fingerprint(hashes.SHA256()).hex()


def _begun(
    subject: str, issuer: str, key: ec.EllipticCurvePrivateKey, days: float, names: list[x509.GeneralName]
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    begun = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, subject)]))
        .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, issuer)]))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=60))
        .not_valid_after(now + timedelta(days=days))
    )
    return begun.add_extension(x509.SubjectAlternativeName(names), critical=False) if names else begun


def _replace(file: Path, content: bytes) -> None:
    new = file.with_suffix(".new")
    new.write_bytes(content)
    new.chmod(0o600)
    new.replace(file)
