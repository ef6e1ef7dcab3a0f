"""The command line: arguments, texts and exit codes; the work is done by `rdfm` itself.

In: arguments. Out: exit code 0 (done), 1 (bad data, or a file that cannot be read or written),
2 (bad usage), 130 (Ctrl-C, SIGTERM, SIGHUP), or the end by SIGPIPE. Cost: what a command needs is imported
when it runs, and nothing at all before signals are seen to.
Law: whatever happens, one clear line on standard error, never a traceback (but with --debug).
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

__all__ = ["main"]


def main(arguments: "Sequence[str] | None" = None) -> "NoReturn":
    """Run a command and exit.

    Args:
        arguments: The words after `rdfm`; those of this process unless given.
    """
    try:
        from rdfm.cli import signals

        signals.begin()
    except KeyboardInterrupt:
        os.write(2, b"rdfm: error: interrupted\n")
        os._exit(130)
    try:
        if arguments is None:
            _open_closed()
        from rdfm.cli.run import run

        code = run(list(sys.argv[1:] if arguments is None else arguments))
    finally:
        if arguments is not None:
            signals.end()
    sys.exit(code)


def _open_closed() -> None:
    """Put something in the place of standard streams that are closed, so that no file gets their numbers.

    What can only be written is read from, and the other way round: both are errors, as they were.
    """
    for number, flags in enumerate((os.O_WRONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, flags)
            if number == 1:
                sys.stdout = open(number, "w", closefd=False)  # noqa: SIM115 - as Python's own
