"""Errors of mirrors that are not wrong options."""

from __future__ import annotations

from collections.abc import Iterable

from rdfm.errors import RdfmError, Remedy

__all__ = ["MirrorError", "RegistryResetError", "RejectedError"]


class MirrorError(RdfmError):
    """A mirror cannot be continued, for example because its log does not match its state.

    Attributes:
        remedies: The options that would help, the best first.
    """

    def __init__(self, reason: str = "", *, remedies: Iterable[Remedy] = ()) -> None:
        super().__init__(reason)
        self.remedies = tuple(remedies)


class RegistryResetError(MirrorError):
    """The registry was set up again or lost data, so its counters do not match the mirror."""


class RejectedError(MirrorError):
    """A nanopublication failed the check, and there is no log for rejected nanopublications."""
