"""The files for TLS.

In: paths of PEM files. Out: their contents, checked.
Law: a certificate that does not match its key is an error before the server listens.
"""

from __future__ import annotations

import re
import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, NoReturn

from rdfm.errors import OptionError, visible

__all__ = ["Tls", "TlsContents"]


class TlsContents(NamedTuple):
    """The contents of the files, in PEM format."""

    key: bytes
    certificate: bytes
    client_ca: bytes | None


@dataclass(frozen=True)
class Tls:
    """PEM files for TLS.

    Attributes:
        certificate: The certificate of the server, with its chain.
        key: The private key of the certificate.
        client_ca: CA certificates; clients need a certificate that one of these CAs has signed.
            None if clients do not need a certificate.
    """

    certificate: Path
    key: Path
    client_ca: Path | None = None

    def read(self) -> TlsContents:
        """Read and check the files.

        Raises:
            OptionError: If a file is not a PEM file of the expected kind, or the certificate does
                not match the key.
            OSError: If a file cannot be read.
        """
        certificate = _read_pem(self.certificate, "CERTIFICATE")
        key = _read_pem(self.key, "PRIVATE KEY")
        authorities = None if self.client_ca is None else _read_pem(self.client_ca, "CERTIFICATE")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        try:
            context.load_cert_chain(self.certificate, self.key, self._reject_encrypted_key)
        except ssl.SSLError as error:
            names = f"{visible(str(self.certificate))} and {visible(str(self.key))}"
            if "MISMATCH" in (error.reason or ""):
                raise OptionError(
                    f"the certificate and the private key in {names} do not belong together"
                ) from None
            raise OptionError(
                f"{names} are not a valid certificate and private key: {_reason(error)}"
            ) from None
        if authorities is not None:
            try:
                context.load_verify_locations(self.client_ca)
            except ssl.SSLError as error:
                raise OptionError(
                    f"{visible(str(self.client_ca))} has no valid certificate: {_reason(error)}"
                ) from None
        return TlsContents(key, certificate, authorities)

    def _reject_encrypted_key(self) -> NoReturn:
        raise OptionError(
            f"the private key in {visible(str(self.key))} is encrypted; decrypt it with "
            "'openssl pkey -in KEY -out DECRYPTED'"
        )


def _read_pem(path: Path, kind: str) -> bytes:
    """Return the content of a PEM file."""
    data = path.read_bytes()
    if re.search(rb"-----BEGIN [A-Z0-9 ]*" + kind.encode() + rb"-----", data) is None:
        raise OptionError(f"{visible(str(path))} is not a PEM file with a {kind}")
    return data


def _reason(error: ssl.SSLError) -> str:
    return (error.reason or str(error)).lower().replace("_", " ")
