"""Whether patches follow one another: the `prev` of each is the `id` of the one before.

In: batches of patches, in order. Out: the first link that is broken, and how many are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from rdfm._core import PatchBatch, Term

__all__ = ["Broken", "Chain"]


class Broken(NamedTuple):
    """A link that is broken.

    Attributes:
        patch: The index of the patch in its log.
        reason: What is wrong with it.
    """

    patch: int
    reason: str


class Chain:
    """The links of patches, of one log or of several that follow one another.

    Attributes:
        links: Number of patches with `prev`.
        broken: Number of patches that do not follow the one before.
        first: The first of them; None where there is none.
    """

    def __init__(self) -> None:
        """Begin before the first patch."""
        self.links = 0
        self.broken = 0
        self.first: Broken | None = None
        self._patches = 0
        self._before: Term | None = None  # the id of the patch before
        self._id: Term | None = None

    def add(self, batch: PatchBatch) -> None:
        """Take the patches of a batch. A patch without `prev`, and the first one, follow any."""
        said: dict[int, dict[str, Term]] = {}
        for patch, key, value in batch.headers():
            if (name := key.lower()) in ("id", "prev"):
                said.setdefault(patch, {}).setdefault(name, value)
        for patch in range(len(batch)):
            if patch or not batch.continued:
                self._patches += 1
                self._before, self._id = self._id, None
            header = said.get(patch, {})
            if self._id is None:
                self._id = header.get("id")
            previous = header.get("prev")
            self.links += previous is not None
            if previous is not None and self._patches > 1 and previous != self._before:
                self._break(batch.first_index + patch, previous)

    def _break(self, patch: int, previous: Term) -> None:
        self.broken += 1
        if self.first is None:
            before = "no id" if self._before is None else f"the id {self._before}"
            self.first = Broken(patch, f"prev is {previous}, and the patch before has {before}")
