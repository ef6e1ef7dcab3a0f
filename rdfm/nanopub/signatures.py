"""Signatures of nanopublications: RSA (PKCS #1 v1.5) and DSA, with SHA-256.

In: the values of a signature element, and the digest of the signed text. Out: the reason why the
signature is invalid, or None.
Cost: about 40 µs for RSA with 2048 bits; keys are parsed once.
Law: all cryptography is done by the package `cryptography` (extra: nanopub).
"""

from __future__ import annotations

import base64
import binascii
from functools import lru_cache
from typing import Any

from rdfm.errors import MissingExtraError, spell_option

__all__ = ["SignatureVerifier"]

# Number of parsed public keys to cache.
_MAX_CACHED_KEYS = 4096


class SignatureVerifier:
    """Verifies signatures."""

    def __init__(self) -> None:
        """Import the cryptographic library.

        Raises:
            MissingExtraError: If `cryptography` is not installed.
        """
        try:
            from cryptography import exceptions
            from cryptography.hazmat.primitives import hashes, serialization
            from cryptography.hazmat.primitives.asymmetric import dsa, padding, rsa, utils
        except ImportError as error:
            raise MissingExtraError(
                "checking signatures needs cryptography: pip install 'rdfm[nanopub]', "
                f"or leave signatures unchecked with {spell_option('signatures', 'false')}"
            ) from error
        self._load = serialization.load_der_public_key
        self._unsupported = exceptions.UnsupportedAlgorithm
        self._invalid = exceptions.InvalidSignature
        self._classes: dict[str, type] = {"RSA": rsa.RSAPublicKey, "DSA": dsa.DSAPublicKey}
        digest = utils.Prehashed(hashes.SHA256())
        self._arguments: dict[str, tuple[Any, ...]] = {
            "RSA": (padding.PKCS1v15(), digest),
            "DSA": (digest,),
        }
        self._key = lru_cache(_MAX_CACHED_KEYS)(self._parse_key)

    def reason(self, algorithm: str, public_key: str, signature: str, digest: bytes) -> str | None:
        """Return the reason why a signature is invalid, or None if it is valid.

        Args:
            algorithm: "RSA" or "DSA".
            public_key: A DER SubjectPublicKeyInfo in Base64.
            signature: The signature in Base64.
            digest: SHA-256 digest of the signed text.
        """
        key, reason = self._key(algorithm, public_key)
        if key is None:
            return reason
        data = _decoded(signature)
        if data is None:
            return "the signature is not valid Base64"
        try:
            key.verify(data, digest, *self._arguments[algorithm])
        except self._invalid:
            return f"the {algorithm} signature does not match the quads and the public key"
        return None

    def _parse_key(self, algorithm: str, text: str) -> tuple[Any, str | None]:
        """Return the public key, or None and the reason."""
        data = _decoded(text)
        if data is None:
            return None, "the public key is not valid Base64"
        try:
            key = self._load(data)
        except self._unsupported as error:
            return None, f"the public key is not supported: {error}"
        except ValueError:
            return None, "the public key is not a SubjectPublicKeyInfo in DER"
        if not isinstance(key, self._classes[algorithm]):
            return None, f"the algorithm is {algorithm}, but the key is for another algorithm"
        return key, None


def _decoded(text: str) -> bytes | None:
    """Decode Base64, which may contain white space. Returns None if it is invalid."""
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        return None
