"""Converts the paths of Spark and its platforms to the form that rdfm expects.

In: paths and URLs of users, or of Spark's own sources. Out: paths and URLs for `open_log` and
`create_log`.
Law: batches, streams and writes treat paths in the same way.
"""

from __future__ import annotations

import re
from pathlib import Path

from rdfm.errors import OptionError
from rdfm.spark.compat import session_folder
from rdfm.storage.paths import local_path

__all__ = ["spark_path", "to_absolute", "to_canonical", "user_path"]

# Folders where Databricks machines mount their storage.
_DBFS, _VOLUMES = "/dbfs", "/Volumes"


def spark_path(path: str) -> str:
    """Convert a path as reported by Spark's own sources, without escapes.

    Example:
        >>> spark_path("file:/logs/a.nq"), spark_path("s3a://bucket/a.nq")
        ('/logs/a.nq', 's3://bucket/a.nq')
        >>> spark_path("dbfs:/logs/a.nq"), spark_path("dbfs:/Volumes/one/two/a.nq")
        ('/dbfs/logs/a.nq', '/Volumes/one/two/a.nq')
    """
    if re.match("file:/", path):
        return "/" + path[5:].lstrip("/")
    if re.match("dbfs:/(?!/)", path):
        return path[5:] if path.startswith("dbfs:/Volumes/") else f"{_DBFS}{path[5:]}"
    return re.sub("^s3[an]://", "s3://", path)


def user_path(path: str) -> str:
    """Convert a path or URL given by a user: `dbfs:/` paths and Hadoop's S3 URLs.

    Raises:
        OptionError: If this machine does not have Databricks storage.

    Example:
        >>> user_path("s3a://bucket/logs"), user_path("logs/*.nq")
        ('s3://bucket/logs', 'logs/*.nq')
    """
    if re.match("file:", path):
        return path  # `local_path` also decodes escapes
    converted = spark_path(path)
    if path.startswith("dbfs:/") and converted != path:
        mount = _VOLUMES if converted.startswith("/Volumes/") else _DBFS
        if not Path(mount).is_dir():
            raise OptionError(
                f"{path} means {converted}, but this machine has no folder {mount}; on Databricks, serverless compute supports "
                "only /Volumes; elsewhere, use the path or URL of the storage"
            )
    return converted


def to_absolute(path: str) -> str:
    """Return the absolute path, which is independent of the working folder of a task.

    Raises:
        OptionError: If the path is relative to a folder that Spark removes, or as in `user_path`.
    """
    path = user_path(path)
    local = local_path(path)
    if local is None:
        return path
    _reject_session_folder(local)
    return str(Path(local).absolute())


def to_canonical(path: str) -> str:
    """Return the canonical name of a path, as far as this machine can determine it.

    Glob patterns are kept.

    Example:
        >>> to_canonical("/logs/../logs/*.nq"), to_canonical("s3a://bucket/logs")
        ('/logs/*.nq', 's3://bucket/logs')
    """
    path = user_path(path)
    local = local_path(path)
    if local is None:
        return path
    _reject_session_folder(local)
    return str(Path(local).resolve())


def _reject_session_folder(local: str) -> None:
    """Reject a path that is relative to a folder of the session, as with Spark Connect."""
    folder = session_folder()
    if folder and not Path(local).is_absolute() and Path(folder).resolve() == Path.cwd():
        raise OptionError(
            f"the path {local} is relative to a folder that Spark removes with the session, as Spark Connect does; "
            "use an absolute path"
        )
