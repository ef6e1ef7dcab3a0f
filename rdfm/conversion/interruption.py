"""Ends a conversion between two batches, when a signal arrives.

In: a request, usually from a signal handler. Out: `Interrupted`, raised by the pipeline.
Cost: one check for each batch, and five per second while waiting for input. Law: the output written
before the interruption can be completed, because no batch is encoded incompletely.
"""

from __future__ import annotations

__all__ = ["Interrupted", "request", "requested"]

requested = False


class Interrupted(KeyboardInterrupt):
    """A conversion ended because of `request`."""


def request() -> None:
    """End the conversions of this process, and all later ones. May be called by a signal handler."""
    global requested
    requested = True
