"""What is read of a client's certificate, however it is made: OpenSSL has verified who signed it, and nothing else."""

from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import ExtensionOID, NameOID

from mcpguard.app.client_certificate import read_certificate

EXPIRES = datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)
NAMES = x509.Name(
    [x509.NameAttribute(NameOID.ORGANIZATION_NAME, "Example"), x509.NameAttribute(NameOID.COMMON_NAME, "agent")]
)


def made(*extensions: x509.ExtensionType, subject: x509.Name = NAMES) -> bytes:
    """A certificate with these extensions."""
    key = ec.generate_private_key(ec.SECP256R1())
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(NAMES)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(EXPIRES - timedelta(days=3000))
        .not_valid_after(EXPIRES)
    )
    for each in extensions:
        builder = builder.add_extension(each, critical=False)
    return builder.sign(key, hashes.SHA256()).public_bytes(Encoding.DER)


def test_every_kind_of_name_is_read_in_the_form_in_which_it_is_compared() -> None:
    alternatives = x509.SubjectAlternativeName(
        [
            x509.DNSName("Agent.Example"),
            x509.DNSName("*.example"),
            x509.UniformResourceIdentifier("spiffe://example/agent"),
            x509.RFC822Name("agent@example.com"),
        ]
    )
    found = read_certificate(made(alternatives))
    assert found.names == {
        "dns:agent.example",
        "uri:spiffe://example/agent",
        "email:agent@example.com",
        "subject:CN=agent,O=Example",
    }
    assert found.expires == int(EXPIRES.timestamp()) * 1_000_000


def test_a_certificate_without_other_names_has_its_subject() -> None:
    assert read_certificate(made()).names == {"subject:CN=agent,O=Example"}


@pytest.mark.parametrize(
    "extension",
    [
        x509.UnrecognizedExtension(ExtensionOID.SUBJECT_ALTERNATIVE_NAME, b"nonsense"),
        x509.UnrecognizedExtension(ExtensionOID.SUBJECT_ALTERNATIVE_NAME, b"\x30\x04\x82\x02\xff\xfe"),
    ],
)
def test_one_that_is_not_written_as_it_should_be_names_nobody(extension: x509.ExtensionType) -> None:
    found = read_certificate(made(extension))
    assert found.names == frozenset()
    assert len(found.digest) == 64


def test_a_subject_cannot_pass_for_another() -> None:
    """What separates parts of a name is escaped within them."""
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "agent,O=Example")])
    assert read_certificate(made(subject=subject)).names == {"subject:CN=agent\\,O=Example"}
