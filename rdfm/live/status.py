"""The status with which a call ends.

In: errors. Out: a status code and one sentence for the client.
Law: the sentence never contains a path of the server.
"""

from __future__ import annotations

from pathlib import Path

import grpc

from rdfm.live.sentences import ErrorClass, classify, hide_path

__all__ = ["StatusError", "create_status"]

Status = grpc.StatusCode

_CODES: dict[ErrorClass, grpc.StatusCode] = {
    "busy": Status.RESOURCE_EXHAUSTED,
    "limit": Status.RESOURCE_EXHAUSTED,
    "unsupported": Status.FAILED_PRECONDITION,
    "option": Status.FAILED_PRECONDITION,
    "corrupt": Status.DATA_LOSS,
    "replaced": Status.ABORTED,
    "unavailable": Status.UNAVAILABLE,
    "internal": Status.INTERNAL,
}


class StatusError(Exception):
    """Raised to end a call with a status.

    Attributes:
        code: The status code.
        reason: The reason, as one sentence.
    """

    def __init__(self, code: grpc.StatusCode, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


def create_status(error: Exception, path: Path | None, topic: str) -> StatusError:
    """Return the status for an error during a call.

    Args:
        error: The error.
        path: The log; None if it is not known yet.
        topic: The name of the topic, which replaces the path in the sentence.
    """
    if isinstance(error, StatusError):
        return StatusError(error.code, hide_path(error.reason, path, topic))
    kind, reason = classify(error)
    return StatusError(_CODES[kind], hide_path(reason, path, topic))
