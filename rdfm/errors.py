"""Every exception of rdfm.

    RdfmError
    ├── DecodeError(ValueError)         the input breaks its format; says where
    │   ├── TruncatedError              the input ends inside a message
    │   ├── LimitError                  a limit of the caller was met
    │   └── UnsupportedError            valid, but needs a feature missing or not asked for
    ├── EncodeError(ValueError)         a message cannot be written in that format
    ├── UnknownFormatError(LookupError) no format of that name, suffix, media type or content
    ├── OptionError(ValueError)         an unknown option, or a value that does not fit
    ├── MissingExtraError(ImportError)  an optional dependency is not installed; names the extra
    └── InternalError(RuntimeError)     a bug in rdfm; the codec that raised it is unusable

`OSError` passes unwrapped. All can be pickled, with every attribute.

An error says what is wrong in `reason`, and which options would help in `remedies`, as data: Python, the
command line and Spark write options each in their own way (`Remedy.shown`), and `told` gives the whole text for
each of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

__all__ = [
    "DecodeError",
    "EncodeError",
    "InternalError",
    "LimitError",
    "MissingExtraError",
    "OptionError",
    "RdfmError",
    "Remedy",
    "Surface",
    "TruncatedError",
    "UnknownFormatError",
    "UnsupportedError",
    "told",
]

# Who reads an error: Python's users, those of the command line, of Spark's options, and of functions in Spark.
Surface = Literal["python", "command", "spark", "function"]

# Options whose names differ on the command line; of all others `_` becomes `-`.
_ON_COMMAND_LINE = {"prefixes": "prefix", "from_format": "from", "to_format": "to"}
# Options that both what is read and what is written may take: there the side is said.
_OF_BOTH_SIDES = ("delimited", "dialect", "frames", "framing")
_SIDES = {"read": "from-", "write": "to-", "stage": ""}
_SWITCHED_OFF = {
    "delimited": "undelimited",
    "namespaces": "no-namespaces",
    "prefixed_names": "full-iris",
}
# The options of stages that Spark has; it lacks all others.
_IN_SPARK = {
    "from_format": "format",
    "to_format": "to",
    "split_messages": "maxRecordsPerFile",
    **{name: name for name in ("mode", "ignoreCorruptFiles", "pathGlobFilter", "splitBytes")},
}
# What stages are told otherwise than by keywords of these names, in calls that convert nothing.
_IN_PYTHON = {
    "from_format": ("format", "from_format in convert"),
    "to_format": ("format", "to_format in convert"),
    "on_error": ("on_error", "skip_message() of a log"),
}
# Values that are to be filled in.
_PLACEHOLDERS = ("DIR", "FILE", "IRI", "PATTERN", "URL=FILE")


@dataclass(frozen=True)
class Remedy:
    """An option that would help.

    Attributes:
        side: Who takes it: "read" (the decoder), "write" (the encoder) or "stage" (what is above them, such as
            `convert`).
        option: Its name in Python.
        value: The value as text, "true" and "false" for switches; what is to be filled in is "IRI", "DIR", "FILE" or
            "URL=FILE", and "|" stands between values that all help. None: a larger one than now.
        text: The end of the sentence that begins with the option, such as "drops them on purpose".
    """

    side: Literal["read", "write", "stage"]
    option: str
    value: str | None
    text: str

    def shown(self, surface: Surface = "python") -> str | None:
        """Give the sentence, or None where there is no such option.

        Example:
            >>> remedy = Remedy("write", "merge_graphs", "true", "drops them on purpose")
            >>> remedy.shown()
            'merge_graphs=True drops them on purpose'
            >>> remedy.shown("command")
            '--merge-graphs drops them on purpose'
            >>> remedy.shown("spark")
            '.option("mergeGraphs", "true") drops them on purpose'
            >>> Remedy("read", "max_depth", None, "if the source is trusted").shown("command")
            'a larger --max-depth allows it, if the source is trusted'
        """
        option = {
            "python": self._in_python,
            "command": self._on_command_line,
            "spark": self._in_spark,
            "function": self._in_spark_function,
        }[surface]()
        if option is None:
            return None
        if self.value is None:
            return f"a larger {option} allows it" + (f", {self.text}" if self.text else "")
        return f"{option} {self.text}"

    def _values(self) -> list[str]:
        return [] if self.value is None else self.value.split("|")

    def _in_python(self) -> str:
        name, where = self.option, ""
        if self.side == "stage" and name in _IN_PYTHON:
            name, where = _IN_PYTHON[name]
        where = f" ({where})" if where else ""
        return self._keyword(name) + where

    def _keyword(self, name: str) -> str:
        return (
            f"{name}={_any_of(_literal(value) for value in self._values())}" if self.value else name
        )

    def _on_command_line(self) -> str | None:
        name = _ON_COMMAND_LINE.get(self.option, self.option.replace("_", "-"))
        if self.option in _OF_BOTH_SIDES:
            name = _SIDES[self.side] + name
        if self.value in (None, "true"):
            return f"--{name}"
        if self.value == "false":
            off = _SWITCHED_OFF.get(self.option)
            return (
                None
                if off is None
                else f"--{_SIDES[self.side] if self.option in _OF_BOTH_SIDES else ''}{off}"
            )
        return f"--{name} {_any_of(self._values())}"

    def _of_spark(self) -> tuple[str, str] | None:
        """The name of Spark's option, and its value."""
        value = self.value or ""
        if self.side != "stage":
            return self.option, value
        if (self.option, value) == ("on_error", "skip"):
            return "mode", "DROPMALFORMED"
        name = _IN_SPARK.get(self.option)
        return None if name is None else (name, value)

    def _in_spark(self) -> str | None:
        if (of_spark := self._of_spark()) is None:
            return None
        first, *rest = of_spark[0].split("_")
        name = first + "".join(word.capitalize() for word in rest)
        if self.value is None:
            return f"option {name}"
        values = of_spark[1].split("|")
        if len(values) > 1:
            return f'.option("{name}", …) with {_any_of(values)}'
        url, equals, file = values[0].partition("=")
        mapping = equals and values[0] in _PLACEHOLDERS
        value = f"""'{{"{url}": "{file}"}}'""" if mapping else f'"{values[0]}"'
        return f'.option("{name}", {value})'

    def _in_spark_function(self) -> str | None:
        of_spark = self._of_spark()
        if of_spark is None or of_spark[0] == "maxRecordsPerFile":
            return None
        name, value = of_spark
        return Remedy(self.side, name, value or None, "")._keyword(
            "format" if name == "to" else name
        )


def _literal(value: str) -> str:
    """A value as Python has it."""
    if value in ("true", "false"):
        return value.capitalize()
    if value in _PLACEHOLDERS:
        key, equals, mapped = value.partition("=")
        return f"{{{key}: {mapped}}}" if equals else value
    return value if value.isdigit() else f'"{value}"'


def _any_of(values: Iterable[str]) -> str:
    *most, last = values
    return f"{', '.join(most)} or {last}" if most else last


def told(error: Exception, surface: Surface = "python") -> str:
    """Give an error's text with the options that help as a surface shows them.

    Example:
        >>> error = EncodeError("the format holds no graph names", format="ttl", message_index=4, remedies=[
        ...     Remedy("write", "merge_graphs", "true", "drops them on purpose")])
        >>> told(error, "command")
        'ttl: the format holds no graph names; --merge-graphs drops them on purpose (message 4)'
    """
    return error._told(surface) if isinstance(error, RdfmError) else str(error)


class RdfmError(Exception):
    """The base of every exception of rdfm.

    Attributes:
        remedies: The options that would help, the best first.
        surface: How its text shows them.
    """

    remedies: tuple[Remedy, ...] = ()
    surface: Surface = "python"

    def __str__(self) -> str:
        """As in `ttl: the format holds no graph names; merge_graphs=True drops them on purpose (message 4)`."""
        return self._told(self.surface)

    def _told(self, surface: Surface) -> str:
        return super().__str__() + self._ways_out(surface)

    def _ways_out(self, surface: Surface) -> str:
        """The remedies, behind a semicolon."""
        shown = [text for remedy in self.remedies if (text := remedy.shown(surface)) is not None]
        return "; " + ", or ".join(shown) if shown else ""


class DecodeError(RdfmError, ValueError):
    """The input breaks its format. Raised after every message completed before the error.

    Attributes:
        reason: What is wrong and what was expected; without the position and without the remedies.
        remedies: The options that would help, the best first.
        lacks: What would have to be possible, such as "graphs" or "parts" (messages that are not held whole).
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
        remedies: Iterable[Remedy] = (),
        lacks: str | None = None,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.remedies = tuple(remedies)
        self.lacks = lacks
        self.format = format
        self.offset = offset
        self.message_index = message_index
        self.line = line
        self.column = column
        self.frame = frame
        self.row = row
        self.source = source

    def _told(self, surface: Surface) -> str:
        names = {
            "line": self.line,
            "column": self.column,
            "frame": self.frame,
            "row": self.row,
            "byte": self.offset,
            "message": self.message_index,
        }
        reason = self.reason + self._ways_out(surface)
        return _text(self.source, self.format, reason, names)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles the attributes, whatever was set after construction included."""
        return _restore, (type(self), self.args, self.__dict__)


class TruncatedError(DecodeError):
    """The input ends inside a message."""


class LimitError(DecodeError):
    """A limit of the caller was met; a remedy names the option that raises it."""


class UnsupportedError(DecodeError):
    """The input is valid, but needs a feature that the codec lacks or that was not asked for."""


class EncodeError(RdfmError, ValueError):
    """A message cannot be written in the format; a remedy names the option that would allow it.

    Attributes:
        reason: What cannot be written; without the position and without the remedies.
        remedies: The options that would help, the best first.
        lacks: What the format would have to hold, such as "graphs", or what would have to be possible, such as
            "parts" (messages that are not held whole).
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
        remedies: Iterable[Remedy] = (),
        lacks: str | None = None,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.remedies = tuple(remedies)
        self.lacks = lacks
        self.format = format
        self.message_index = message_index
        self.completed = completed
        self.source = source

    def _told(self, surface: Surface) -> str:
        reason = self.reason + self._ways_out(surface)
        return _text(self.source, self.format, reason, {"message": self.message_index})

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles the attributes, whatever was set after construction included."""
        return _restore, (type(self), self.args, self.__dict__)


class UnknownFormatError(RdfmError, LookupError):
    """No format has that name, suffix, media type or content; the text or a remedy lists the known ones.

    Attributes:
        remedies: The options that would help, the best first.
    """

    def __init__(self, reason: str = "", *, remedies: Iterable[Remedy] = ()) -> None:
        super().__init__(reason)
        self.remedies = tuple(remedies)


class OptionError(RdfmError, ValueError):
    """An unknown option, or a value that does not fit; the text lists what does.

    Attributes:
        remedies: The options that would help, the best first.
    """

    def __init__(self, reason: str = "", *, remedies: Iterable[Remedy] = ()) -> None:
        super().__init__(reason)
        self.remedies = tuple(remedies)


class MissingExtraError(RdfmError, ImportError):
    """An optional dependency is not installed; the text names the extra to install."""


class InternalError(RdfmError, RuntimeError):
    """A bug in rdfm, caught: please report it. A codec that raised it raises it again when used."""


def _text(
    source: str | None, name: str | None, reason: str, position: dict[str, int | None]
) -> str:
    """Joins what is known: source, format, reason and position."""
    known = ", ".join(f"{key} {value}" for key, value in position.items() if value is not None)
    head = "".join(f"{part}: " for part in (source, name) if part is not None)
    return f"{head}{reason} ({known})" if known else f"{head}{reason}"


def _restore(cls: type[Exception], args: tuple[Any, ...], attributes: dict[str, Any]) -> Exception:
    """Makes a pickled exception again without its `__init__`'s keywords."""
    error = cls.__new__(cls, *args)
    error.args = args
    error.__dict__.update(attributes)
    return error
