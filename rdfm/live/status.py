"""The status with which a call ends.

In: errors. Out: a status code and one sentence for the client.
Law: the sentence never contains a path of the server.
"""

from __future__ import annotations

import os
from pathlib import Path

import grpc

from rdfm.errors import EncodeError, LimitError, OptionError, RdfmError, spell_options, visible
from rdfm.live.following import ReplacedError
from rdfm.live.memory import MemoryLimitError

__all__ = ["StatusError", "create_status", "describe_error", "describe_os_error"]

Status = grpc.StatusCode


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
    code, reason = _describe(error)
    if path is not None:
        for shown_path in (path, path.resolve()):
            for name in (str(shown_path), visible(str(shown_path))):
                reason = reason.replace(name, visible(topic))
            reason = reason.replace(f"{visible(str(shown_path.parent))}{os.sep}", "")
    return StatusError(code, reason)


def describe_error(error: RdfmError) -> str:
    """Return the text of an error, without options, which a client cannot set."""
    error.remedies = ()
    return str(error)


def describe_os_error(error: Exception) -> str:
    """Return the text of an error for the log of the server, with the name of the file."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{visible(str(error.filename))}: {error.strerror}"
    return str(error) or type(error).__name__


def _describe(error: Exception) -> tuple[grpc.StatusCode, str]:
    if isinstance(error, StatusError):
        return error.code, error.reason
    if isinstance(error, MemoryLimitError):
        return Status.RESOURCE_EXHAUSTED, str(error)
    if isinstance(error, LimitError):
        return Status.RESOURCE_EXHAUSTED, describe_error(error)
    if isinstance(error, EncodeError):
        return Status.FAILED_PRECONDITION, visible(spell_options(error.reason))
    if isinstance(error, OptionError):
        return Status.FAILED_PRECONDITION, describe_error(error)
    if isinstance(error, RdfmError):
        return Status.DATA_LOSS, describe_error(error)
    if isinstance(error, ReplacedError):
        return Status.ABORTED, str(error)
    if isinstance(error, OSError):
        reason = error.strerror or type(error).__name__
        return Status.UNAVAILABLE, f"the log cannot be read or written: {reason}"
    return Status.INTERNAL, "the server has an internal error; its log says more"
