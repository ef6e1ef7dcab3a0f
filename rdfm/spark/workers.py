"""Whether the Python of Spark's workers is one that can run rdfm, told in words that help.

Spark starts its workers with a Python of its own choice, which may not be the driver's.
In: a session; or what was made at the driver and came to a worker. Out: nothing, or an error.
Cost: one start of the workers' Python, once a process, and only where it is not the driver's.
Law: where it cannot be known nothing is said.
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

__all__ = ["FromDriver", "check_workers"]

_ASK = "import pyarrow, rdfm, importlib.util as u; print(rdfm.__version__ if u.find_spec('pyspark_rdfm') else '')"
_PATIENCE = 60.0
_right: set[str] = set()


def check_workers(spark: SparkSession) -> None:
    """Ask the workers' Python whether it has this rdfm, where the workers run on this machine.

    A cluster's Python may be on its own machines alone, and Spark Connect does not tell: nothing is
    asked there.

    Args:
        spark: A session, not of Spark Connect.

    Raises:
        MissingExtraError: It lacks rdfm or what rdfm needs, or has another version; says what to set.
    """
    from pyspark import SparkFiles

    context: Any = spark.sparkContext
    program = context.pythonExec
    if not context.master.startswith("local") or program in _right or _is_mine(program):
        return
    # As Spark's workers find modules; what the driver found elsewhere is not theirs.
    environment = {**os.environ, **context.environment}
    sent = [str(Path(SparkFiles.getRootDirectory()) / name) for name in context._python_includes]
    paths = [*sent, *filter(None, [environment.get("PYTHONPATH")])]
    environment["PYTHONPATH"] = os.pathsep.join(paths)
    try:
        asked = subprocess.run(
            [program, "-c", _ASK],
            env=environment,
            capture_output=True,
            text=True,
            timeout=_PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return
    except OSError as error:
        raise _wrong(program, f"cannot be started ({error.strerror})") from error
    if asked.returncode:
        said = asked.stderr.strip().splitlines() or ["it does not say why"]
        raise _wrong(program, f"cannot import rdfm ({said[-1]})")
    if asked.stdout.strip() != __version__:
        raise _wrong(program, f"has another rdfm than the driver, whose is {__version__}")
    _right.add(program)


def _is_mine(program: str) -> bool:
    """Whether a program is this process's Python, in the same environment, as far as names tell."""
    found = shutil.which(program)
    if found is None or not sys.executable:
        return False
    one, other = Path(found), Path(sys.executable)
    # An environment is known by its folder, where each name of its Python may be a link to one elsewhere.
    return one.parent.resolve() == other.parent.resolve() and one.resolve() == other.resolve()


def _wrong(program: str, reason: str) -> MissingExtraError:
    return MissingExtraError(
        f"Spark's workers run the Python '{program}', which {reason}; set PYSPARK_PYTHON to "
        f"{sys.executable} before the session is made, as in "
        'os.environ["PYSPARK_PYTHON"] = sys.executable'
    )


class FromDriver:
    """What is made at the driver and used in workers: it arrives only where rdfm is the same."""

    def __getstate__(self) -> dict[str, Any]:
        """Take along which rdfm this is."""
        return {**self.__dict__, "rdfm": __version__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Compare it with the one here.

        Raises:
            MissingExtraError: It is another one.
        """
        version = state.pop("rdfm")
        if version != __version__:
            raise MissingExtraError(
                f"this worker's Python, {sys.executable}, has rdfm {__version__}, and the driver has "
                f"{version}; install the same on all machines, and set PYSPARK_PYTHON to that Python"
            )
        self.__dict__.update(state)
