"""Benchmarks of `rdfm.validate` with all warnings, compared with only reading the same log."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from work import Row, Task, Work, sample, translated


def log_content(log: str, format: str, folder: Path, messages: int) -> bytes:
    """Returns the content of a log."""
    if log.endswith(f".{format}"):
        return sample(folder, log, messages)
    return translated(log, format, folder, messages)


def validating(log: str, format: str, folder: Path, messages: int) -> Work:
    import rdfm

    data = log_content(log, format, folder, messages)

    def run() -> int:
        checked = rdfm.validate(data, format).run()
        assert checked.ok
        return checked.records

    return Work(run, len(data))


def reading(log: str, format: str, folder: Path, messages: int) -> Work:
    import rdfm

    data = log_content(log, format, folder, messages)

    def run() -> int:
        with rdfm.open_log(data, format, parts=True) as opened:
            return sum(batch.quad_count for batch in opened.batches())

    return Work(run, len(data))


def rows() -> list[Row[Task]]:
    """Returns the benchmarks, for text and Jelly logs."""
    logs = [("iot.nq", "nq"), ("iot.nq", "jelly"), ("osm.nq", "jelly"), ("nanopubs.trig", "trig")]
    return [
        Row(
            f"{format} validated ({log.partition('.')[0]})",
            partial(validating, log, format),
            ("rdfm, reading only", partial(reading, log, format)),
            0.7,
        )
        for log, format in logs
    ]
