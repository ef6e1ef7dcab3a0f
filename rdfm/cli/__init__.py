"""The command line: arguments, texts and exit codes; the work is done by `rdfm` itself.

In: arguments. Out: exit code 0 (done), 1 (bad data, or a file that cannot be read or written),
2 (bad usage), 130 (Ctrl-C). Cost: what a command needs is imported when it runs.
Law: whatever happens, one clear line on standard error, never a traceback (but with --debug).
"""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sys
import warnings
from collections.abc import Iterator, Sequence
from typing import NoReturn

import rdfm

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run a command and exit.

    Args:
        arguments: The words after `rdfm`; those of this process unless given.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words == ["--version"]:
        print(f"rdfm {rdfm.__version__}")
        sys.exit(0)
    if hasattr(signal, "SIGTERM"):
        signal.signal(signal.SIGTERM, _terminate)
    if isinstance(sys.stdout, io.TextIOWrapper):  # what its encoding lacks is escaped
        sys.stdout.reconfigure(errors="backslashreplace")
    code = _run(words)
    if sys.stdout is not None:
        try:
            sys.stdout.flush()
        except OSError:
            code = _closed_output()
    sys.exit(code)


@contextlib.contextmanager
def _warnings_in_a_line() -> Iterator[None]:
    """Show warnings as errors are shown, without the lines of Python that gave them."""

    def show(message: Warning | str, *_: object, **__: object) -> None:
        _print("warning", str(message))

    shown = warnings.showwarning
    warnings.showwarning = show
    try:
        yield
    finally:
        warnings.showwarning = shown


@_warnings_in_a_line()
def _run(words: list[str]) -> int:
    debug = "--debug" in words
    words = [word for word in words if word != "--debug"]
    try:
        import click

        from rdfm.cli.app import app

        try:
            return int(app.main(args=words, prog_name="rdfm", standalone_mode=False) or 0)
        except click.exceptions.NoArgsIsHelpError as error:
            print(error.format_message(), file=sys.stderr)
            return 2
        except click.UsageError as error:
            command = error.ctx.command_path if error.ctx is not None else "rdfm"
            return _say(f"{error.format_message()} (see {command} --help)", 2)
        except click.ClickException as error:
            return _say(error.format_message(), 1)
        except click.Abort:
            return _say("interrupted", 130)
    except KeyboardInterrupt:
        return _say("interrupted", 130)
    except BrokenPipeError:
        return _closed_output()
    except Exception as error:
        if debug:
            raise
        return _explain(error)


def _explain(error: Exception) -> int:
    """Say what went wrong, and give the exit code."""
    notes = "".join(f"; {note}" for note in getattr(error, "__notes__", ()))
    if isinstance(error, (rdfm.OptionError, rdfm.UnknownFormatError)):
        return _say(f"{error}{notes}", 2)
    if isinstance(error, rdfm.RdfmError):
        return _say(f"{error}{notes}", 1)
    if isinstance(error, OSError):
        place = f"{error.filename}: " if error.filename is not None else ""
        return _say(f"{place}{error.strerror or error}{notes}", 1)
    if isinstance(error, MemoryError):
        return _say("out of memory; --max-message-bytes bounds what a message may take", 1)
    kind = type(error).__name__
    return _say(f"unexpected {kind}: {error} (a bug? the same command with --debug shows where)", 1)


def _say(text: str, code: int) -> int:
    """Print an error, and give the exit code."""
    _print("error", text)
    return code


def _print(kind: str, text: str) -> None:
    """Print one line on standard error."""
    line = " ".join(text.split("\n")).strip()
    safe = "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in line)
    if sys.stderr is not None:
        with contextlib.suppress(OSError, UnicodeError):  # nobody listens
            print(f"rdfm: {kind}: {safe}", file=sys.stderr, flush=True)


def _closed_output() -> int:
    """Nobody reads what is written: end quietly, also when Python flushes at exit."""
    if sys.stdout is not None:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
    return 1


def _terminate(*_: object) -> None:
    """On SIGTERM leave through the same door as Ctrl-C, so that no partial file stays."""
    raise KeyboardInterrupt
