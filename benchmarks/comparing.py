"""Benchmarks of `rdfm.diff` and `rdfm.hash`, including the decoding of the logs.

Rates count the quads of one log. The peer of `diff`, pyoxigraph, parses both logs message by
message. It canonicalizes the messages and compares each pair. As the peer of `hash`, it only
canonicalizes messages that have been parsed before: neither parsing nor hashing is measured.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from work import Row, Task, Work, batches, sample, translated

DELIMITER = b"# @message\n"
# Maximum number of messages for the peer, which is slow.
PEER_MESSAGES = 2_000


def as_nquads(log: str, folder: Path, messages: int) -> bytes:
    return (
        sample(folder, log, messages)
        if log.endswith("nq")
        else translated(log, "nq", folder, messages)
    )


def reordered(text: bytes) -> bytes:
    """An N-Quads log with the quads of each message in a different order and with new labels."""
    messages = text.split(DELIMITER)
    other = [b"".join(reversed(message.splitlines(keepends=True))) for message in messages]
    return DELIMITER.join(other).replace(b"_:", b"_:other")


def comparing(
    log: str, folder: Path, messages: int, *, reorder: bool = False, unordered: bool = False
) -> Work:
    """Compares an N-Quads log in memory with the same log in Jelly, or with its quads reordered."""
    import rdfm

    text = as_nquads(log, folder, messages)
    other = reordered(text) if reorder else translated(log, "jelly", folder, messages)

    def run() -> int:
        difference = rdfm.diff(
            text,
            other,
            format_a="nq",
            format_b="nq" if reorder else "jelly",
            unordered=unordered,
        )
        assert difference.same
        return difference.records

    return Work(run, len(text) + len(other))


def canonicalizing(log: str, folder: Path, messages: int) -> Work:
    """Compares two N-Quads logs with pyoxigraph."""
    import pyoxigraph

    text = as_nquads(log, folder, min(messages or PEER_MESSAGES, PEER_MESSAGES))
    sides = [text.split(DELIMITER), reordered(text).split(DELIMITER)]

    def canonical(message: bytes) -> pyoxigraph.Dataset:
        dataset = pyoxigraph.Dataset(pyoxigraph.parse(message, pyoxigraph.RdfFormat.N_QUADS))
        dataset.canonicalize(pyoxigraph.CanonicalizationAlgorithm.RDFC_1_0)
        return dataset

    def run() -> int:
        count = 0
        for one, other in zip(*sides, strict=True):
            ours = canonical(one)
            assert ours == canonical(other)
            count += len(ours)
        return count

    return Work(run, 2 * len(text))


def hashing(log: str, folder: Path, messages: int) -> Work:
    """Hashes the messages of an N-Quads log in memory."""
    import rdfm

    text = as_nquads(log, folder, messages)
    quads = sum(batch.quad_count for batch in batches("nq", text))

    def run() -> int:
        rdfm.hash(text, "nq").log_hash()
        return quads

    return Work(run, len(text))


def canonicalizing_only(log: str, folder: Path, messages: int) -> Work:
    """Canonicalizes datasets with pyoxigraph."""
    import pyoxigraph

    text = as_nquads(log, folder, min(messages or PEER_MESSAGES, PEER_MESSAGES))
    datasets: list[pyoxigraph.Dataset] = []

    def prepare() -> None:
        datasets[:] = [
            pyoxigraph.Dataset(pyoxigraph.parse(message, pyoxigraph.RdfFormat.N_QUADS))
            for message in text.split(DELIMITER)
        ]

    def run() -> int:
        for dataset in datasets:
            dataset.canonicalize(pyoxigraph.CanonicalizationAlgorithm.RDFC_1_0)
        return sum(map(len, datasets))

    return Work(run, len(text), prepare=prepare)


def rows() -> list[Row[Task]]:
    """Comparisons of equal logs, with quads in the same order and in different orders, and hashes."""
    found: list[Row[Task]] = []
    for log in ("iot.nq", "nanopubs.trig"):
        name = log.partition(".")[0]
        peer = ("pyoxigraph", partial(canonicalizing, log))
        found += [
            Row(f"diff of nq and jelly ({name})", partial(comparing, log), peer, 5),
            Row(
                f"diff, quads in another order ({name})",
                partial(comparing, log, reorder=True),
                peer,
                5,
            ),
            Row(f"diff --unordered ({name})", partial(comparing, log, unordered=True), peer, 5),
            Row(
                f"hash ({name})",
                partial(hashing, log),
                ("pyoxigraph, canonicalize only", partial(canonicalizing_only, log)),
                2,
            ),
        ]
    return found
