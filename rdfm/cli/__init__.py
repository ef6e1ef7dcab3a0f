"""The command line: arguments, output and exit codes. The work is done by the package `rdfm`.

In: arguments. Out: exit code 0 (done), 1 (bad data, or a file that cannot be read or written),
2 (bad usage), 130 (Ctrl-C, SIGTERM, SIGHUP), or termination by SIGPIPE.
Cost: each command imports only the modules that it needs, after the signal handlers are installed.
Law: every error is one clear line on standard error, never a traceback (except with --debug).
"""

import gc
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

__all__ = ["main"]

# Number of new objects after which Python looks for cycles (Python's default: 700). Importing a
# command creates tens of thousands of objects, almost none of which become garbage.
YOUNG_OBJECTS = 10_000


def main(arguments: "Sequence[str] | None" = None) -> "NoReturn":
    """Run a command and exit.

    Args:
        arguments: Arguments after `rdfm`. Defaults to those of this process.
    """
    try:
        from rdfm.cli import signals

        signals.begin()
    except KeyboardInterrupt:
        os.write(2, b"rdfm: error: interrupted\n")
        os._exit(130)
    if arguments is None:
        gc.set_threshold(YOUNG_OBJECTS)
    try:
        if arguments is None:
            _open_closed_streams()
            # Arrow's allocator: return free memory at once, and do not use huge pages. This saves
            # 50 MB in a conversion to Parquet, and takes no more time.
            os.environ.setdefault("MIMALLOC_PURGE_DELAY", "0")
            os.environ.setdefault("MIMALLOC_ALLOW_THP", "0")
        from rdfm.cli.run import run

        code = run(list(sys.argv[1:] if arguments is None else arguments))
    finally:
        if arguments is None:
            gc.freeze()  # otherwise Python examines all objects again at exit
        else:
            signals.end()
    sys.exit(code)


def _open_closed_streams() -> None:
    """Open closed standard streams on the null device, so that no file gets their descriptors.

    They are opened in the opposite mode, so that reading standard input and writing to the other
    streams remain errors.
    """
    for number, flags in enumerate((os.O_WRONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, flags)
            if number == 1:
                sys.stdout = open(number, "w", closefd=False)  # noqa: SIM115 - as in Python
