"""A certificate authority for tests, and the certificates that it issues."""

import datetime
import ipaddress
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


@dataclass
class Identity:
    """Paths of a certificate and its private key."""

    certificate: Path
    key: Path


class Authority:
    """A certificate authority that writes its files to a folder.

    Attributes:
        file: Path of the authority's certificate.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        self.file = folder / f"{name}.pem"
        basic = x509.BasicConstraints(ca=True, path_length=None)
        self._write(self.file, self._sign(self._name, self._key, basic, []))

    def issue(self, name: str) -> Identity:
        """Issues a certificate for localhost."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        names = [
            x509.DNSName("localhost"),
            x509.IPAddress(ipaddress.ip_address("127.0.0.1")),
        ]
        basic = x509.BasicConstraints(ca=False, path_length=None)
        identity = Identity(self._folder / f"{name}.pem", self._folder / f"{name}.key")
        self._write(identity.certificate, self._sign(subject, key, basic, names))
        identity.key.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )
        return identity

    def _sign(self, subject, key, basic, names):
        now = datetime.datetime.now(datetime.UTC)
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(days=1))
            .add_extension(basic, critical=True)
        )
        if names:
            builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
        return builder.sign(self._key, hashes.SHA256())

    @staticmethod
    def _write(path: Path, certificate) -> None:
        path.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
