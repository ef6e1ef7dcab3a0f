"""Rewrites large logs so that they can be split: `resplit`.

In: logs that cannot be read in splits. Out: a splittable log for each of them.
Cost: each log is decoded and encoded in one task, which may process several small logs. Memory does
not depend on the size of the logs.
Law: the messages of each log stay together, complete and in order; all logs appear, or none.
"""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from rdfm import formats
from rdfm.conversion.convert import convert
from rdfm.errors import OptionError, RdfmError
from rdfm.spark.checks import create_reader, run_tasks
from rdfm.spark.hadoop import find_storage_options
from rdfm.spark.spark_remedies import render_for_spark
from rdfm.spark.writers.commit import CommitTarget, FolderCommit
from rdfm.storage.files import find_storage
from rdfm.storage.paths import is_url, local_target

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from rdfm.spark.checks import Task

__all__ = ["rewrite"]

_MODES = ("append", "overwrite")
# Options of a conversion that `resplit` sets itself.
_FIXED_OPTIONS = (
    "from_format",
    "to",
    "append",
    "jobs",
    "split_messages",
    "split_bytes",
    "split_by",
)


def rewrite(
    spark: SparkSession,
    paths: Sequence[str],
    out: str,
    *,
    to: str,
    mode: str,
    options: Mapping[str, Any],
    storage: Mapping[str, Any] | None,
) -> None:
    """Rewrite logs, each within one task.

    Raises:
        OptionError: If the format cannot be split, or an option is invalid.
        UnknownFormatError: If the format does not exist.
        FileNotFoundError: If a path does not exist.
        OSError: If the folder cannot be written to.
    """
    spec = formats.find(to).spec
    if not spec.splittable:
        format_names = ", ".join(
            splittable.name for splittable in formats.specs() if splittable.splittable
        )
        raise OptionError(
            f"{spec.title} cannot be split; set the option 'to' to one of {format_names}"
        )
    if mode not in _MODES:
        raise OptionError(f"mode is {mode[:40]!r}, expected {' or '.join(_MODES)}")
    for name in options:
        if name in _FIXED_OPTIONS:
            raise OptionError(
                f"resplit has no option {name}; use rdfm.convert for other conversions"
            )
    local_target(out)  # rejects a URL with one slash
    storage = find_storage_options(spark, [*paths, out], storage or {})
    reading = {"storage_options": storage, "split_bytes": 0, "format": options.get("format")}
    reader = create_reader(spark, paths, reading)
    tasks: list[Task] = [
        [(file.path, None) for file, _ in task] for task in reader.plan_tasks(reader.find_files())
    ]
    target = CommitTarget.from_path(out, storage)
    target.clean_up()
    job = uuid.uuid4().hex
    target.begin(job)
    convert_options = {name: value for name, value in options.items() if name != "format"}

    def run(number: int, task: Task) -> Iterator[pa.RecordBatch]:
        task_target = CommitTarget.from_path(out, storage)
        attempt = f"{number:05d}-{os.urandom(6).hex()}"
        folder = task_target.create_attempt(job, attempt)
        parts = []
        for index, (path, _) in enumerate(task):
            name = f"part-{number:05d}-{job}-c{index:03d}{spec.suffixes[0]}"
            file = task_target.storage.open_new(f"{folder}/{name}")
            with contextlib.ExitStack() as stack:
                log: Any = path
                format = options.get("format")
                if storage and is_url(path):  # `convert` has no storage options
                    files, storage_path = find_storage(path, storage)
                    log = stack.enter_context(files.open_existing(storage_path))
                    path_format = formats.by_path(path)
                    format = format or (None if path_format is None else path_format.name)
                try:
                    convert(log, file, from_format=format, to=spec.name, jobs=1, **convert_options)
                except RdfmError as error:
                    error.renderer = render_for_spark
                    raise
            task_target.storage.finish(file)
            parts.append(f"{attempt}/{name}")
        yield pa.RecordBatch.from_arrays([pa.array(parts, pa.string())], ["part"])

    try:
        parts = [row.part for row in run_tasks(spark, tasks, run, "part string").collect()]
        target.commit(FolderCommit(job, tuple(parts)), replaces=mode == "overwrite")
    except BaseException:
        target.drop(job)
        raise
