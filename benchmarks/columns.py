"""Benchmarks of Jelly 1.2, a draft that stores statements by column, compared with Jelly 1.1."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from kinds import encoded, read_log, reading, writing
from work import Row, Task

LOGS = ("iot", "osm")
# Maximum sizes relative to Jelly 1.1: as written, and compressed by `zstd -3`.
SIZES = {"iot": (0.6, 1.0), "osm": (0.75, 1.0)}


def relative_sizes(log: str, folder: Path, messages: int) -> list[dict[str, Any]]:
    """The size of a log in Jelly 1.2, relative to Jelly 1.1."""
    import pyarrow as pa

    inputs = list(read_log(f"{log}.nq", folder, messages))
    new, old = (encoded("jelly", inputs, jelly_version=version) for version in ("1.2", "1.1"))
    zstd = pa.Codec("zstd", compression_level=3)
    ratios = (len(new) / len(old), zstd.compress(new).size / zstd.compress(old).size)
    return [
        {
            "task": f"size of jelly 1.2 relative to jelly 1.1 ({log}{suffix})",
            "value": ratio,
            "unit": "x",
            "target": target,
            "at_most": True,
            "met": ratio <= target,
        }
        for suffix, ratio, target in zip(("", ", zstd -3"), ratios, SIZES[log], strict=True)
    ]


def rows() -> list[Row[Task]]:
    """Returns the benchmarks of reading and writing."""
    return [
        Row(
            f"jelly 1.2 {name} ({log})",
            partial(work, read_log, "jelly", f"{log}.nq", jelly_version="1.2"),
            ("jelly 1.1", partial(work, read_log, "jelly", f"{log}.nq", jelly_version="1.1")),
            target,
        )
        for log in LOGS
        for name, work, target in (("decoded", reading, 1.3), ("encoded", writing, 1))
    ]
