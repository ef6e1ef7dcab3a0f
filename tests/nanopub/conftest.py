"""Keys for signing nanopublications in tests."""

import base64

import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import dsa, padding, rsa


class Key:
    """A private key that signs data, with its algorithm and its public key."""

    def __init__(self, algorithm):
        self.algorithm = algorithm
        if algorithm == "RSA":
            self._key = rsa.generate_private_key(65537, 2048)
            self._arguments = (padding.PKCS1v15(), hashes.SHA256())
        else:
            self._key = dsa.generate_private_key(1024)
            self._arguments = (hashes.SHA256(),)
        self.public = base64.b64encode(
            self._key.public_key().public_bytes(
                serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
            )
        ).decode()

    def sign(self, data):
        return self._key.sign(data, *self._arguments)


@pytest.fixture(scope="session")
def keys():
    return {name: Key(name) for name in ("RSA", "DSA")}


@pytest.fixture(scope="session")
def other_key():
    return Key("RSA")
