"""Combines files into tasks.

In: files in their order, and the intended cost of a task. Out: packs of files, one per task.
Cost: a few passes over the sizes.
Law: every file is in one pack, in order. If there are enough files, there are as many packs as
requested. If all files have the same size, packs differ by at most one file.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import accumulate, groupby

from rdfm.storage.files import File

__all__ = ["OPEN_COST", "PACK_BYTES", "pack_files"]

# A task costs Spark about 50 ms, the time to read several MB of a log.
PACK_BYTES = 64 << 20
# Opening a local file takes about 0.1 ms, the time to read 4 kB of Jelly.
OPEN_COST = 4 << 10


def pack_files(
    files: Iterable[File], pack_bytes: int, open_cost: int, at_least: int = 1
) -> Iterator[list[File]]:
    """Combine files in their order into packs that are as even as their sizes allow.

    Args:
        files: The files.
        pack_bytes: Approximate size of a pack. A file that costs more gets a separate pack.
        open_cost: Bytes that could be read in the time that opening a file takes.
        at_least: Number of cores. The number of packs is at least this number, and a multiple of
            it, unless there are fewer files.

    Example:
        >>> files = [File(name, 10, None) for name in "abcdefgh"]
        >>> [[file.path for file in group] for group in pack_files(files, 35, 0)]
        [['a', 'b', 'c'], ['d', 'e'], ['f', 'g', 'h']]
    """

    def cost(file: File) -> int:
        return max(file.size + open_cost, 1)

    groups = [
        (list(group), is_large)
        for is_large, group in groupby(files, lambda file: cost(file) > pack_bytes)
    ]
    totals = [0 if is_large else sum(map(cost, group)) for group, is_large in groups]
    total_cost = sum(totals)

    def numbers(shares: int) -> list[int]:
        """The number of packs of each group if the small files together get `shares` packs."""
        return [
            len(group) if is_large else min(-(-total * shares // total_cost), len(group))
            for (group, is_large), total in zip(groups, totals, strict=True)
        ]

    large = sum(len(group) for group, is_large in groups if is_large)
    rounds = -(-(large + sum(-(-total // pack_bytes) for total in totals)) // at_least)
    # Every core has a task, even in the last round.
    pack_count = min(rounds * at_least, sum(len(group) for group, _ in groups))
    shares = bisect_left(range(total_cost), pack_count, key=lambda shares: sum(numbers(shares)))
    for (group, _), number in zip(groups, numbers(shares), strict=True):
        yield from _split_files(group, list(map(cost, group)), number)


def _split_files(files: list[File], costs: list[int], number: int) -> Iterator[list[File]]:
    """Divide files into `number` non-empty packs that are as even as possible."""
    ends = [0, *accumulate(costs)]
    start = 0
    for index in range(1, number + 1):
        # Choose the end closest to the ideal boundary, in integer arithmetic.
        boundary = 2 * ends[-1] * index
        end = bisect_left(ends, boundary, key=lambda each: 2 * each * number)
        if end > 0 and (ends[end - 1] + ends[end]) * number >= boundary:
            end -= 1
        end = min(max(end, start + 1), len(files) - (number - index))
        yield files[start:end]
        start = end
