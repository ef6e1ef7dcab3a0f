"""Who may read and publish: tokens, for gRPC and HTTP.

In: the access rules, and the header `Authorization` of a call. Out: the reason for a rejection.
Law: tokens are compared in constant time, and never shown.
"""

from __future__ import annotations

import hmac
from dataclasses import dataclass

__all__ = ["Access"]


@dataclass(frozen=True)
class Access:
    """Access rules.

    Attributes:
        read_token: The token for reading; None if everyone may read.
        publish_token: The token for publications, which also permits reading; None if nobody may
            publish.
    """

    read_token: str | None = None
    publish_token: str | None = None

    def check(self, authorization: str | None, *, publishing: bool = False) -> str | None:
        """Check the token of a call.

        Args:
            authorization: The header `Authorization`; None if there is none.
            publishing: Whether the call publishes. Publications must be allowed.

        Returns:
            The reason why the call is rejected; None if it is accepted.
        """
        if not publishing and self.read_token is None:
            return None
        client_token = _bearer_token(authorization or "")
        if client_token is None:
            return "the server needs a token (authorization: Bearer TOKEN)"
        tokens = [self.publish_token] if publishing else [self.read_token, self.publish_token]
        # Compares all tokens, so that the time does not depend on which token matches.
        matches = [
            hmac.compare_digest(client_token.encode("utf-8", "surrogateescape"), token.encode())
            for token in tokens
            if token is not None
        ]
        return None if any(matches) else "the token is wrong"


def _bearer_token(authorization: str) -> str | None:
    """Return the token in a header, or None."""
    scheme, _, token = authorization.partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None
