"""Errors as sentences for clients and for the log of a server.

In: errors. Out: one sentence.
Law: a sentence for clients never contains a path of the server.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

from rdfm.errors import EncodeError, LimitError, OptionError, RdfmError, spell_options, visible
from rdfm.live.calls import CallLimitError
from rdfm.live.following import ReplacedError
from rdfm.live.memory import MemoryLimitError

__all__ = ["ErrorClass", "classify", "describe_error", "describe_os_error", "hide_path"]

ErrorClass = Literal[
    "busy", "limit", "unsupported", "option", "corrupt", "replaced", "unavailable", "internal"
]


def classify(error: Exception) -> tuple[ErrorClass, str]:
    """Return the class of an error, from which each protocol derives its status, and a sentence."""
    if isinstance(error, MemoryLimitError | CallLimitError):
        return "busy", str(error)
    if isinstance(error, LimitError):
        return "limit", describe_error(error)
    if isinstance(error, EncodeError):
        return "unsupported", visible(spell_options(error.reason))
    if isinstance(error, OptionError):
        return "option", describe_error(error)
    if isinstance(error, RdfmError):
        return "corrupt", describe_error(error)
    if isinstance(error, ReplacedError):
        return "replaced", str(error)
    if isinstance(error, OSError):
        reason = error.strerror or type(error).__name__
        return "unavailable", f"the log cannot be read or written: {reason}"
    return "internal", "the server has an internal error; its log says more"


def hide_path(reason: str, path: Path | None, topic: str) -> str:
    """Replace the path of a log in a sentence by the name of its topic.

    Args:
        reason: The sentence.
        path: The log; None if it is not known yet.
        topic: The name of the topic.
    """
    if path is not None:
        for shown_path in (path, path.resolve()):
            for name in (str(shown_path), visible(str(shown_path))):
                reason = reason.replace(name, visible(topic))
            reason = reason.replace(f"{visible(str(shown_path.parent))}{os.sep}", "")
    return reason


def describe_error(error: RdfmError) -> str:
    """Return the text of an error, without options, which a client cannot set."""
    error.remedies = ()
    return str(error)


def describe_os_error(error: Exception) -> str:
    """Return the text of an error for the log of the server, with the name of the file."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{visible(str(error.filename))}: {error.strerror}"
    return str(error) or type(error).__name__
