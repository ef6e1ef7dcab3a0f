"""Runs a command and handles its output, exit code and error message.

In: the arguments after `rdfm`. Out: the exit code.
Law: every error is one clear line on standard error, never a traceback (except with --debug).
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys
import warnings
from collections.abc import Iterator

import rdfm
from rdfm.cli import signals
from rdfm.cli.stdio import STANDARD_OUTPUT
from rdfm.errors import LogBusyError, Remedy, surface, visible

__all__ = ["CodedError", "run"]


class CodedError(Exception):
    """Wraps an error whose exit code must be at least the given code.

    Attributes:
        error: The error.
        code: The minimum exit code.
    """

    def __init__(self, error: Exception, code: int) -> None:
        super().__init__(str(error))
        self.error = error
        self.code = code


def run(arguments: list[str]) -> int:
    """Run a command, flush its output, and return the exit code."""
    if isinstance(sys.stdout, io.TextIOWrapper):  # escape characters that the encoding lacks
        sys.stdout.reconfigure(errors="backslashreplace")
    signals.watch()
    with surface(_render_remedy):
        code = _run(arguments)
    if sys.stdout is not None:  # report errors, unlike the flush at exit
        try:
            sys.stdout.flush()
        except OSError as error:
            error.filename = STANDARD_OUTPUT
            code = _print_error_message(error)
    return code


def _render_remedy(remedy: Remedy) -> str | None:
    from rdfm.cli.cli_remedies import render_for_command_line  # most commands render no remedy

    return render_for_command_line(remedy)


@contextlib.contextmanager
def _print_warnings_on_one_line() -> Iterator[None]:
    """Print warnings on one line, like errors, without the Python source line."""

    def show(message: Warning | str, *_: object, **__: object) -> None:
        _print_line("warning", str(message))

    original = warnings.showwarning
    warnings.showwarning = show
    try:
        yield
    finally:
        warnings.showwarning = original


@_print_warnings_on_one_line()
def _run(arguments: list[str]) -> int:
    debug = "--debug" in arguments
    arguments = [word for word in arguments if word != "--debug"]
    try:
        if arguments == ["--version"]:
            print(f"rdfm {rdfm.__version__}")
            return 0

        import click

        from rdfm.cli.app import ClosedPipe, app

        try:
            return int(app.main(args=arguments, prog_name="rdfm", standalone_mode=False) or 0)
        except click.exceptions.NoArgsIsHelpError as error:
            print(error.format_message(), file=sys.stderr)
            return 2
        except click.UsageError as error:
            command = error.ctx.command_path if error.ctx is not None else "rdfm"
            return _fail(f"{error.format_message()} (see {command} --help)", 2)
        except click.ClickException as error:
            return _fail(error.format_message(), 1)
        except click.Abort as error:
            return _handle_interrupt(error.__cause__)
        except ClosedPipe as error:
            return _print_error_message(error.error)
        except CodedError as error:
            if debug:
                raise error.error from None
            return max(_print_error_message(error.error), error.code)
    except KeyboardInterrupt as error:
        return _handle_interrupt(error)
    except Exception as error:
        if debug:
            raise
        return _print_error_message(error)


def _print_error_message(error: Exception) -> int:
    """Print an error message, and return the exit code."""
    notes = "".join(f"; {note}" for note in getattr(error, "__notes__", ()))
    if isinstance(error, rdfm.RdfmError):
        is_usage = isinstance(error, (rdfm.OptionError, rdfm.UnknownFormatError))
        return _fail(
            f"{error}{notes}", 2 if is_usage and not isinstance(error, LogBusyError) else 1
        )
    if isinstance(error, OSError):
        if error.filename is None and _was_raised_while_printing(error):
            error.filename = STANDARD_OUTPUT
        if error.filename == STANDARD_OUTPUT:
            if error.errno == errno.EPIPE:
                signals.die_of_pipe()
                return 1
            _discard_output()
        prefix = f"{error.filename}: " if error.filename is not None else ""
        return _fail(f"{prefix}{error.strerror or error}{notes}", 1)
    if isinstance(error, MemoryError):
        return _fail("out of memory; --max-message-bytes limits the message size", 1)
    kind = type(error).__name__
    return _fail(f"unexpected {kind}: {error} (possibly a bug; --debug shows the traceback)", 1)


def _fail(text: str, code: int) -> int:
    """Print an error text, and return the exit code."""
    _print_line("error", text)
    return code


def _escape(character: str) -> str:
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _print_line(kind: str, text: str) -> None:
    """Print one line on standard error."""
    line = " ".join(visible(text).split("\n")).strip()
    safe = "".join(c if c.isprintable() else _escape(c) for c in line)
    if sys.stderr is not None:
        with contextlib.suppress(OSError, UnicodeError):  # standard error is closed
            print(f"rdfm: {kind}: {safe}", file=sys.stderr, flush=True)


def _handle_interrupt(error: BaseException | None) -> int:
    for note in getattr(error, "__notes__", ()):
        _print_line("note", note)
    signals.report_interrupt()
    return signals.CODE


def _was_raised_while_printing(error: OSError) -> bool:
    """Whether an error without a file name was raised while printing."""
    import traceback  # costly to import

    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    return bool(frames) and frames[-1].f_globals.get("__name__") in ("click.utils", __name__)


def _discard_output() -> None:
    """Discard the buffered output, because Python would try to flush it again at exit."""
    if sys.stdout is not None:
        with contextlib.suppress(OSError, ValueError):
            null_device = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null_device, sys.stdout.fileno())
