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
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, NAME)])
    names = [x509.DNSName(NAME), x509.DNSName("localhost"), x509.IPAddress(IPv4Address("127.0.0.1"))]
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=60))
        .not_valid_after(now + timedelta(days=days))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .sign(key, hashes.SHA256())
    )
    locked = NoEncryption() if password is None else BestAvailableEncryption(password)
    _replace(to.key, key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, locked))
    _replace(to.certificate, certificate.public_bytes(Encoding.PEM))


def _replace(file: Path, content: bytes) -> None:
    new = file.with_suffix(".new")
    new.write_bytes(content)
    new.chmod(0o600)
    new.replace(file)
