"""All rdfm exceptions.

    RdfmError
    ├── DecodeError(ValueError)         the input is invalid; has the position of the error
    │   ├── TruncatedError              the input ends inside a message
    │   ├── LimitError                  a limit was exceeded
    │   └── UnsupportedError            valid, but requires a feature that is missing or not enabled
    ├── EncodeError(ValueError)         a message cannot be written in the format
    ├── UnknownFormatError(LookupError) no format with that name, suffix, media type or content
    ├── OptionError(ValueError)         an unknown option or an invalid value
    │   ├── LogBusyError                another process appends to the log
    │   └── QueryError                  an invalid or unsupported SPARQL query; has the position
    ├── MissingExtraError(ImportError)  an optional dependency is not installed; names the extra
    └── InternalError(RuntimeError)     a bug in rdfm; the codec that raised it is unusable

`OSError` passes unwrapped. All exceptions can be pickled with every attribute.

`reason` describes the error, and `remedies` lists the options that would help. Python, the command
line and Spark spell options differently, so each of these surfaces passes its own `Renderer` to
`render`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Literal, NamedTuple, cast

__all__ = [
    "DecodeError",
    "EncodeError",
    "InternalError",
    "LimitError",
    "LogBusyError",
    "MissingExtraError",
    "OptionError",
    "QueryError",
    "RdfmError",
    "Remedy",
    "Renderer",
    "TruncatedError",
    "UnknownFormatError",
    "UnsupportedError",
    "render",
]


RemedySide = Literal["read", "write", "stage"]


class Remedy(NamedTuple):
    """An option that would help.

    Attributes:
        side: The component that has the option: "read" (the decoder), "write" (the encoder) or
            "stage" (a higher layer, such as `convert`).
        option: Name of the option in Python.
        value: The value as text; "true" and "false" for switches, and a placeholder such as "IRI"
            for a value that the user must choose. "|" separates alternative values. None means a
            larger value than the current one.
        text: The end of the sentence that begins with the option, such as "drops graph names".
    """

    side: RemedySide
    option: str
    value: str | None
    text: str

    def render(self, renderer: Renderer | None = None) -> str | None:
        """Return the sentence that recommends the option, or None if the surface does not have it.

        Args:
            renderer: The renderer of the surface. Defaults to Python's.

        Example:
            >>> remedy = Remedy("write", "merge_graphs", "true", "drops graph names")
            >>> remedy.render()
            'merge_graphs=True drops graph names'
            >>> remedy.render(lambda remedy: remedy.option.upper())
            'MERGE_GRAPHS drops graph names'
            >>> Remedy("read", "max_depth", None, "if the source is trusted").render()
            'a larger max_depth allows it, if the source is trusted'
        """
        option = (renderer or _default_renderer)(self)
        if option is None:
            return None
        if self.value is None:
            return f"a larger {option} allows it" + (f", {self.text}" if self.text else "")
        return f"{option} {self.text}"

    @property
    def values(self) -> list[str]:
        """The alternative values. Empty if a larger value is required."""
        return [] if self.value is None else self.value.split("|")


_MARKED = re.compile("\x1f(stage|read|write) ([^ \x1f]+) ?([^\x1f]*)\x1f")


def spell_option(name: str, value: str | None = None, side: RemedySide = "stage") -> str:
    """Return a marked option name for an error text. Each surface renders its own spelling.

    Args:
        name: Name of the option in Python.
        value: Value of the option, as in `Remedy`.
        side: Side of the option, as in `Remedy`.

    Example:
        >>> error = OptionError(f"{spell_option('group_by')} needs a number")
        >>> str(error), render(error, lambda remedy: remedy.option.upper())
        ('group_by needs a number', 'GROUP_BY needs a number')
    """
    return f"\x1f{side} {name} {value or ''}\x1f"


def _with_options(text: str, renderer: Renderer | None) -> str:
    """Return the text with its options as spelled by a surface."""
    if "\x1f" not in text:
        return text
    render = renderer or _default_renderer

    def option(match: re.Match[str]) -> str:
        side, name, value = match.groups()
        return render(Remedy(cast("RemedySide", side), name, value or None, "")) or name

    return _MARKED.sub(option, text)


def spell_options(text: str) -> str:
    """Return part of an error text, such as `reason`, with its options as the surface spells them.

    Example:
        >>> spell_options(f"{spell_option('group_by')} needs a number")
        'group_by needs a number'
    """
    return _with_options(text, None)


# Returns the option of a remedy in the spelling of a surface, or None if the surface lacks it.
Renderer = Callable[[Remedy], str | None]


def _option_name(remedy: Remedy) -> str:
    return remedy.option


def _message(_format: str | None) -> str:
    return "message"


_default_renderer: Renderer = _option_name
# The word for a message of a format: "message", "patch" or "row".
_message_word: Callable[[str | None], str] = _message


def set_surface(renderer: Renderer, message_word: Callable[[str | None], str]) -> None:
    """Set the functions that `str(error)` uses. Called by higher layers, which know the formats.

    Args:
        renderer: The renderer of Python.
        message_word: Returns the word for a message of a format: "message", "patch" or "row".
    """
    global _default_renderer, _message_word
    _default_renderer, _message_word = renderer, message_word


@contextmanager
def surface(renderer: Renderer) -> Iterator[None]:
    """Use the renderer of a surface for all error texts in a `with` block.

    Lower layers also use it, for the texts of skipped errors. The renderer applies to the entire
    process, so only a surface that owns the process may call this.
    """
    global _default_renderer
    previous, _default_renderer = _default_renderer, renderer
    try:
        yield
    finally:
        _default_renderer = previous


def visible(text: str) -> str:
    r"""Escape the bytes of file names that are not UTF-8, so that the text can be encoded.

    Python keeps such a byte as a lone surrogate (PEP 383), which no encoding accepts.

    Example:
        >>> visible("a\udcff.nq")
        'a\\xff.nq'
    """
    if text.isascii():
        return text
    try:
        data = text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # a surrogate that does not represent a byte
        data = text.encode("utf-8", "backslashreplace")
    return data.decode("utf-8", "backslashreplace")


def render(error: Exception, renderer: Renderer | None = None) -> str:
    """Return the text of an error with its remedies, as spelled by one surface.

    Args:
        error: Any exception. Only those of rdfm have remedies.
        renderer: The renderer of the surface; that of Python by default.

    Example:
        >>> error = EncodeError("the format does not support graph names", format="ttl", message_index=4, remedies=[
        ...     Remedy("write", "merge_graphs", "true", "drops graph names")])
        >>> render(error)
        'ttl: the format does not support graph names; merge_graphs=True drops graph names (message 4)'
    """
    return visible(error._render(renderer) if isinstance(error, RdfmError) else str(error))


class RdfmError(Exception):
    """The base class of all rdfm exceptions.

    Attributes:
        remedies: The options that would help, the best first.
        renderer: The renderer for the text of the error. None means Python's.
    """

    remedies: tuple[Remedy, ...] = ()
    renderer: Renderer | None = None

    def __str__(self) -> str:
        """Return the text, as in `ttl: the format has no graph names (message 4)`."""
        return visible(self._render(self.renderer))

    def __repr__(self) -> str:
        """Return the class and the text, without the marks of option names."""
        return f"{type(self).__name__}({str(self)!r})"

    def _render(self, renderer: Renderer | None) -> str:
        return _with_options(super().__str__(), renderer) + recommendations(self.remedies, renderer)


class DecodeError(RdfmError, ValueError):
    """The input is invalid. Raised after all messages before the error were returned.

    Attributes:
        reason: The error and the expected input, without position and remedies.
        remedies: The options that would help, the best first.
        missing_feature: The feature, such as "graphs" or "parts" (messages read in parts).
        format: Name of the format, such as "nq".
        kind: Kind of the log, such as "patches", if its format has several kinds and it is known.
        byte_offset: Offset of the error in the decompressed log, in bytes from 0.
        message_index: Index of the message in the log, from 0.
        line: Number of the line, from 1, in formats that have lines.
        column: Number of the character in the line, from 1.
        frame: Index of the frame, from 0, in formats that have frames.
        row: Index of the row in the frame, from 0.
        source: Name of the file or archive member, if known.
        follows: Whether the error may be a consequence of a skipped message, which may have
            contained a declaration that is now missing. The reason names that message.
    """

    kind: str | None = None

    def __init__(
        self,
        reason: str,
        *,
        format: str | None = None,
        byte_offset: int | None = None,
        message_index: int | None = None,
        line: int | None = None,
        column: int | None = None,
        frame: int | None = None,
        row: int | None = None,
        source: str | None = None,
        remedies: Iterable[Remedy] = (),
        missing_feature: str | None = None,
        follows: bool = False,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.remedies = tuple(remedies)
        self.missing_feature = missing_feature
        self.follows = follows
        self.format = format
        self.byte_offset = byte_offset
        self.message_index = message_index
        self.line = line
        self.column = column
        self.frame = frame
        self.row = row
        self.source = source

    def _render(self, renderer: Renderer | None) -> str:
        names = (
            ("line", self.line),
            ("column", self.column),
            ("frame", self.frame),
            ("row", self.row),
            ("byte", self.byte_offset),
            (_message_word(self.kind or self.format), self.message_index),
        )
        reason = _with_options(self.reason, renderer) + recommendations(self.remedies, renderer)
        return _format_text(self.source, self.format, reason, names)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the attributes, including those set after construction."""
        return _restore, (type(self), self.args, self.__dict__)


class TruncatedError(DecodeError):
    """The input ends inside a message."""


class LimitError(DecodeError):
    """A limit was exceeded. A remedy names the option that raises the limit."""


class UnsupportedError(DecodeError):
    """The input is valid, but requires a feature that the codec lacks or that is not enabled."""


class EncodeError(RdfmError, ValueError):
    """A message cannot be written in the format. A remedy names the option that would allow it.

    Attributes:
        reason: The data that cannot be written, without position and remedies.
        remedies: The options that would help, the best first.
        missing_feature: The feature, such as "graphs" or "parts" (messages written in parts).
        format: Name of the format, such as "ttl".
        kind: Kind of the log, such as "patches", if its format has several kinds and it is known.
        message_index: Index of the message in the log, from 0.
        completed: The encoded bytes of the preceding messages. Write them to complete the log.
        source: Name of the input file of the message, if known.
        byte_offset: For an error in a row of a patch, the offset of the row in the input log, in
            bytes from 0.
        line: For text, the number of the line at that offset, from 1.
        column: For text, the number of the character in that line, from 1.
    """

    kind: str | None = None

    def __init__(
        self,
        reason: str,
        *,
        format: str | None = None,
        message_index: int | None = None,
        completed: bytes = b"",
        source: str | None = None,
        remedies: Iterable[Remedy] = (),
        missing_feature: str | None = None,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.remedies = tuple(remedies)
        self.missing_feature = missing_feature
        self.format = format
        self.message_index = message_index
        self.completed = completed
        self.source = source
        self.byte_offset: int | None = None
        self.line: int | None = None
        self.column: int | None = None

    def _render(self, renderer: Renderer | None) -> str:
        names = (
            ("line", self.line),
            ("column", self.column),
            ("byte", self.byte_offset),
            (_message_word(self.kind or self.format), self.message_index),
        )
        reason = _with_options(self.reason, renderer) + recommendations(self.remedies, renderer)
        return _format_text(self.source, self.format, reason, names)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the attributes, including those set after construction."""
        return _restore, (type(self), self.args, self.__dict__)


class UnknownFormatError(RdfmError, LookupError):
    """No format has that name, suffix, media type or content.

    The text or a remedy lists the known formats.

    Attributes:
        remedies: The options that would help, the best first.
    """

    def __init__(self, reason: str = "", *, remedies: Iterable[Remedy] = ()) -> None:
        super().__init__(reason)
        self.remedies = tuple(remedies)


class OptionError(RdfmError, ValueError):
    """An unknown option or an invalid value. The text lists the valid ones.

    Attributes:
        remedies: The options that would help, the best first.
    """

    def __init__(self, reason: str = "", *, remedies: Iterable[Remedy] = ()) -> None:
        super().__init__(reason)
        self.remedies = tuple(remedies)


class LogBusyError(OptionError):
    """Another process appends to the log. The same call may succeed later."""


class QueryError(OptionError):
    """An invalid SPARQL query, or an unsupported one: DESCRIBE, an update or SERVICE.

    Attributes:
        reason: The error, without the position.
        line, column: The position, from 1; None if the error is not in the text of the query.
        undeclared: The prefix that is not declared, if this is the error.
    """

    def __init__(
        self,
        reason: str = "",
        *,
        line: int | None = None,
        column: int | None = None,
        undeclared: str | None = None,
    ) -> None:
        position = "" if line is None else f" (line {line}, column {column})"
        super().__init__(reason + position)
        self.reason = reason
        self.line = line
        self.column = column
        self.undeclared = undeclared
        if undeclared is not None:
            declares = Remedy("stage", "prefixes", f"{undeclared}=IRI", "also declares it")
            self.remedies = (declares,)

    def with_query_name(self, name: str) -> QueryError:
        """Return the same error, with the name of the query before the reason."""
        return QueryError(
            f"{name}: {self.reason}",
            line=self.line,
            column=self.column,
            undeclared=self.undeclared,
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the attributes."""
        return _restore, (type(self), self.args, self.__dict__)


class MissingExtraError(RdfmError, ImportError):
    """An optional dependency is not installed. The text names the extra to install."""


class InternalError(RdfmError, RuntimeError):
    """A bug in rdfm. Please report it. A codec that raised it raises it again on every use."""


def recommendations(remedies: Iterable[Remedy], renderer: Renderer | None = None) -> str:
    """Return the end of an error text: a semicolon and the remedies that the surface supports."""
    texts = [text for remedy in remedies if (text := remedy.render(renderer)) is not None]
    return "; " + ", or ".join(texts) if texts else ""


def _format_text(
    source: str | None,
    name: str | None,
    reason: str,
    position: Iterable[tuple[str, int | None]],
) -> str:
    """Join the known parts: source, format, reason and position."""
    known = ", ".join(f"{key} {value}" for key, value in position if value is not None)
    head = "".join(f"{part}: " for part in (source, name) if part is not None)
    return f"{head}{reason} ({known})" if known else f"{head}{reason}"


def _restore(cls: type[Exception], args: tuple[Any, ...], attributes: dict[str, Any]) -> Exception:
    """Restore a pickled exception without calling its `__init__`."""
    error = cls.__new__(cls, *args)
    error.args = args
    error.__dict__.update(attributes)
    return error


@contextmanager
def name_in_errors(name: str, keep: str | None = None) -> Iterator[None]:
    """Put the file name that the user gave into system errors, instead of a temporary name.

    Args:
        name: The name of the file.
        keep: A name that is not replaced.
    """
    try:
        yield
    except OSError as error:
        if error.errno is not None and (keep is None or error.filename != keep):
            error.filename = name
            del error.filename2  # None would be shown as a second name
        raise
