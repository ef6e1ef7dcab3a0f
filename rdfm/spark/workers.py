"""Checks that the Python of Spark's workers can run rdfm, with errors that name the remedy.

Spark chooses the Python of its workers, which may differ from the driver's.
In: a session, or an object that the driver sent to a worker. Out: nothing, or an error.
Cost: one start of the workers' Python per process, and only if it differs from the driver's.
Law: if the check is impossible, there is no error.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rdfm import __version__
from rdfm.errors import MissingExtraError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["DriverObject", "check_workers"]

_IMPORT_CHECK = "import pyarrow, rdfm, importlib.util as u; print(rdfm.__version__ if u.find_spec('pyspark_rdfm') else '')"
_CHECK_TIMEOUT_SECONDS = 60.0
_checked_programs: set[str] = set()


def check_workers(spark: SparkSession) -> None:
    """Check that the workers' Python has this version of rdfm, if the workers run on this machine.

    Clusters and Spark Connect are not checked: the Python of a cluster may exist only on its
    machines, and Spark Connect does not report it.

    Args:
        spark: A session that is not a Spark Connect session.

    Raises:
        MissingExtraError: If that Python lacks rdfm or its dependencies, or has another version of
            rdfm. The text names the setting to change.
    """
    from pyspark import SparkFiles

    from rdfm.spark.compat import included_files

    context: Any = spark.sparkContext
    program = context.pythonExec
    if (
        not context.master.startswith("local")
        or program in _checked_programs
        or _is_own_python(program)
    ):
        return
    # The module search path of Spark's workers, which differs from the driver's.
    environment = {**os.environ, **context.environment}
    sent_files = [
        str(Path(SparkFiles.getRootDirectory()) / name) for name in included_files(context)
    ]
    paths = [*sent_files, *filter(None, [environment.get("PYTHONPATH")])]
    environment["PYTHONPATH"] = os.pathsep.join(paths)
    try:
        import_check = subprocess.run(
            [program, "-c", _IMPORT_CHECK],
            env=environment,
            capture_output=True,
            text=True,
            timeout=_CHECK_TIMEOUT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return
    except OSError as error:
        raise _worker_error(program, f"cannot be started ({error.strerror})") from error
    if import_check.returncode:
        lines = import_check.stderr.strip().splitlines() or ["no reason given"]
        raise _worker_error(program, f"cannot import rdfm ({lines[-1]})")
    if import_check.stdout.strip() != __version__:
        raise _worker_error(
            program, f"has a different version of rdfm than the driver, which has {__version__}"
        )
    _checked_programs.add(program)


def _is_own_python(program: str) -> bool:
    """Whether a program is this process's Python in the same environment, according to its path."""
    program_path = shutil.which(program)
    if program_path is None or not sys.executable:
        return False
    python, own_python = Path(program_path), Path(sys.executable)
    # The folder identifies an environment, because its Python may be a link to another folder.
    is_same_folder = python.parent.resolve() == own_python.parent.resolve()
    return is_same_folder and python.resolve() == own_python.resolve()


def _worker_error(program: str, reason: str) -> MissingExtraError:
    return MissingExtraError(
        f"Spark's workers run the Python '{program}', which {reason}; set PYSPARK_PYTHON to "
        f"{sys.executable} before the session is created, as in "
        'os.environ["PYSPARK_PYTHON"] = sys.executable'
    )


class DriverObject:
    """Base class of objects that only workers with the driver's version of rdfm can receive."""

    def __getstate__(self) -> dict[str, Any]:
        """Include the version of rdfm."""
        return {**self.__dict__, "rdfm": __version__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Compare the driver's version of rdfm with this worker's.

        Raises:
            MissingExtraError: If the versions differ.
        """
        version = state.pop("rdfm")
        if version != __version__:
            raise MissingExtraError(
                f"this worker's Python, {sys.executable}, has rdfm {__version__}, but the driver has "
                f"{version}; install the same version on all machines, and set PYSPARK_PYTHON to that Python"
            )
        self.__dict__.update(state)
