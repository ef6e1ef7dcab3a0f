"""Every exception of rdfm.

    RdfmError
    ├── DecodeError(ValueError)         the input breaks its format; says where
    │   ├── TruncatedError              the input ends inside a message
    │   ├── LimitError                  a limit of the caller was met; names its option
    │   └── UnsupportedError            valid, but needs a feature missing or not asked for
    ├── EncodeError(ValueError)         a message cannot be written in that format
    ├── UnknownFormatError(LookupError) no format of that name, suffix, media type or content
    ├── OptionError(ValueError)         an unknown option, or a value that does not fit
    ├── MissingExtraError(ImportError)  an optional dependency is not installed; names the extra
    └── InternalError(RuntimeError)     a bug in rdfm; the codec that raised it is unusable

`OSError` passes unwrapped. All can be pickled, with every attribute.
"""

from __future__ import annotations

from typing import Any

__all__ = [
    "DecodeError",
    "EncodeError",
    "InternalError",
    "LimitError",
    "MissingExtraError",
    "OptionError",
    "RdfmError",
    "TruncatedError",
    "UnknownFormatError",
    "UnsupportedError",
]


class RdfmError(Exception):
    """The base of every exception of rdfm."""


class DecodeError(RdfmError, ValueError):
    """The input breaks its format. Raised after every message completed before the error.

    Attributes:
        reason: What is wrong, what was expected, and the way out; without the place.
        format: The format's name, such as "nq".
        offset: The byte in the decompressed log, from 0.
        message_index: The message in the log, from 0.
        line: The line, from 1, in formats that have lines.
        column: The character in the line, from 1.
        frame: The frame, from 0, in formats that have frames.
        row: The row in the frame, from 0.
        source: The file or archive member, where known.
    """

    def __init__(
        self,
        reason: str,
        *,
        format: str | None = None,
        offset: int | None = None,
        message_index: int | None = None,
        line: int | None = None,
        column: int | None = None,
        frame: int | None = None,
        row: int | None = None,
        source: str | None = None,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.format = format
        self.offset = offset
        self.message_index = message_index
        self.line = line
        self.column = column
        self.frame = frame
        self.row = row
        self.source = source

    def __str__(self) -> str:
        """As in `a.nq: nq: expected '.', found '<x' (line 3, column 41, byte 127, message 1)`."""
        names = {
            "line": self.line,
            "column": self.column,
            "frame": self.frame,
            "row": self.row,
            "byte": self.offset,
            "message": self.message_index,
        }
        return _text(self.source, self.format, self.reason, names)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles the attributes, whatever was set after construction included."""
        return _restore, (type(self), self.args, self.__dict__)


class TruncatedError(DecodeError):
    """The input ends inside a message."""


class LimitError(DecodeError):
    """A limit of the caller was met; the text names the option that raises it."""


class UnsupportedError(DecodeError):
    """The input is valid, but needs a feature that the codec lacks or that was not asked for."""


class EncodeError(RdfmError, ValueError):
    """A message cannot be written in the format; the text names the option that would allow it.

    Attributes:
        reason: What cannot be written, and the way out; without the place.
        format: The format's name, such as "ttl".
        message_index: The message in the log, from 0.
        completed: The bytes of the messages before it: write them, and the log is whole.
        source: The file the message came from, where known.
    """

    def __init__(
        self,
        reason: str,
        *,
        format: str | None = None,
        message_index: int | None = None,
        completed: bytes = b"",
        source: str | None = None,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.format = format
        self.message_index = message_index
        self.completed = completed
        self.source = source

    def __str__(self) -> str:
        """As in `ttl: the format holds no graph names; … (message 4)`."""
        return _text(self.source, self.format, self.reason, {"message": self.message_index})

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles the attributes, whatever was set after construction included."""
        return _restore, (type(self), self.args, self.__dict__)


class UnknownFormatError(RdfmError, LookupError):
    """No format has that name, suffix, media type or content; the text lists the known ones."""


class OptionError(RdfmError, ValueError):
    """An unknown option, or a value that does not fit; the text lists what does."""


class MissingExtraError(RdfmError, ImportError):
    """An optional dependency is not installed; the text names the extra to install."""


class InternalError(RdfmError, RuntimeError):
    """A bug in rdfm, caught: please report it. A codec that raised it raises it again when used."""


def _text(source: str | None, name: str | None, reason: str, place: dict[str, int | None]) -> str:
    """Joins what is known: source, format, reason and place."""
    known = ", ".join(f"{key} {value}" for key, value in place.items() if value is not None)
    head = "".join(f"{part}: " for part in (source, name) if part is not None)
    return f"{head}{reason} ({known})" if known else f"{head}{reason}"


def _restore(cls: type[Exception], args: tuple[Any, ...], attributes: dict[str, Any]) -> Exception:
    """Makes a pickled exception again without its `__init__`'s keywords."""
    error = cls.__new__(cls, *args)
    error.args = args
    error.__dict__.update(attributes)
    return error
