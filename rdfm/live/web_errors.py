"""The status with which an HTTP request ends.

In: errors. Out: a status and one sentence for the client.
Law: the sentence never contains a path of the server.
"""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path

from rdfm.live.sentences import ErrorClass, classify, hide_path
from rdfm.live.topics import TopicError

__all__ = ["WebError", "create_web_error"]

_STATUSES: dict[ErrorClass, HTTPStatus] = {
    "busy": HTTPStatus.SERVICE_UNAVAILABLE,
    "limit": HTTPStatus.INTERNAL_SERVER_ERROR,
    "unsupported": HTTPStatus.NOT_ACCEPTABLE,
    "option": HTTPStatus.BAD_REQUEST,
    "corrupt": HTTPStatus.INTERNAL_SERVER_ERROR,
    "replaced": HTTPStatus.CONFLICT,
    "unavailable": HTTPStatus.SERVICE_UNAVAILABLE,
    "internal": HTTPStatus.INTERNAL_SERVER_ERROR,
}


class WebError(Exception):
    """Raised to end a request with a status.

    Attributes:
        status: The status.
        reason: The reason, as one sentence.
        headers: Further headers of the response.
    """

    def __init__(
        self, status: HTTPStatus, reason: str, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason
        self.headers = dict(headers or {})


def create_web_error(error: Exception, path: Path | None, topic: str) -> WebError:
    """Return the status for an error during a request.

    Args:
        error: The error.
        path: The log; None if it is not known yet.
        topic: The name of the topic, which replaces the path in the sentence.
    """
    if isinstance(error, WebError):
        return error
    if isinstance(error, TopicError):
        return WebError(HTTPStatus.NOT_FOUND, str(error))
    kind, reason = classify(error)
    headers = {"Retry-After": "5"} if kind in ("busy", "unavailable") else {}
    return WebError(_STATUSES[kind], hide_path(reason, path, topic), headers)
