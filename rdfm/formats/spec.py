"""Declarations of formats and options: `FormatSpec`, `OptionSpec`.

In: declarations, from the core for native formats and otherwise from Python. Out: checked option
values, and error texts for invalid ones.
Cost: none until an option is given.
Law: only the spec of a format determines its options; values of all kinds may be given as text.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from rdfm import _core
from rdfm.errors import OptionError, spell_option, visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

__all__ = ["FormatSpec", "OptionSpec", "Side", "key"]

Side = Literal["read", "write"]
# The kinds of option values.
KINDS = (
    "switch",
    "count",
    "bytes",
    "choice",
    "choice or number",
    "text",
    "texts",
    "iri",
    "namespaces",
    "files",
    "file",
    "context",
    "log",
    "moment",
    "object",
)
# Placeholders for values in help, by kind.
_PLACEHOLDERS = {
    "count": "N",
    "bytes": "BYTES",
    "text": "TEXT",
    "texts": "TEXT",
    "iri": "IRI",
    "namespaces": "NAME=IRI",
    "files": "URL=FILE",
    "file": "FILE",
    "context": "FILE",
    "log": "FILE",
    "moment": "TIME",
    "object": "JSON",
}
_MAX_NUMBER = (1 << 63) - 1


@dataclass(frozen=True)
class OptionSpec:
    """An option of a decoder, of an encoder, or of a stage around them.

    Attributes:
        name: The keyword in Python: lower case, words joined by `_`.
        kind: The kind of the value: "switch", "count", "bytes" (such as `64M`), "choice", "choice
            or number", "text", "texts" (one or several), "iri", "namespaces" (a dict of names and
            IRIs), "files" (a dict of URLs and files), "file", "context" (of JSON-LD: a file, its
            text or a dict), "log" (a log of the format, whose stream options are used), "moment" (a
            date and time), "object" (a JSON object or a dict).
        help: A description of one sentence.
        choices: The words of a choice.
        numbers: The number for each word, with "choice or number".
        levels: Words of a choice that may be followed by a colon and a level: the word, the lowest
            and the highest level.
        minimum: The smallest number.
        maximum: The largest number.
        default: The default value, if it is fixed.
        default_from: The origin of the default if it is not fixed: the "input" that is read, or the
            "source" of the output.
        printed: The default when the command line writes to standard output, if it differs.
        shared: Whether a conversion passes the option to both formats if both have it.
        hint: Whether a conversion ignores `from_NAME` if the input format does not have the option,
            because it applies only to some input formats.
        metavar: The placeholder for the value in help.
        example: A value of the kind "object", for errors.
        group: The heading in help.
        flag: The name on the command line, if it differs.
        short: The short option on the command line, a letter.
        off: The name on the command line that disables the switch.
        python_only: Whether the option is only available in Python.
        keyword: The keyword in calls that do not convert, if it differs.

    Example:
        >>> OptionSpec("indent", "count", "Spaces of an indent.", maximum=8).value("4")
        4
    """

    name: str
    kind: str = "text"
    help: str = ""
    choices: tuple[str, ...] = ()
    numbers: tuple[int, ...] = ()
    levels: tuple[tuple[str, int, int], ...] = ()
    minimum: int = 0
    maximum: int = _MAX_NUMBER
    default: bool | int | str | None = None
    default_from: Literal["", "input", "source"] = ""
    printed: bool | int | str | None = None
    shared: bool = False
    hint: bool = False
    metavar: str = ""
    example: str = '{"key": "value"}'
    group: str = ""
    flag: str = ""
    short: str = ""
    off: str = ""
    python_only: bool = False
    keyword: str = ""

    def __post_init__(self) -> None:
        """Check the name and the kind.

        Raises:
            OptionError: If the name or the kind is invalid.
        """
        if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", self.name):
            raise OptionError(
                f"'{self.name[:40]}' is not a valid option name: use lower case, with words joined by _"
            )
        if self.kind not in KINDS:
            raise OptionError(
                f"the option {self.name} has the unknown kind '{self.kind}'; the kinds are {', '.join(KINDS)}"
            )
        if self.kind.startswith("choice") and not self.choices:
            raise OptionError(f"the option {self.name} is a choice, but has no choices")

    @property
    def option(self) -> str:
        """The name on the command line, without the leading hyphens."""
        return self.flag or self.name.replace("_", "-")

    @property
    def repeatable(self) -> bool:
        """Whether the option may be given several times on the command line."""
        return self.kind in ("namespaces", "files", "texts")

    @property
    def placeholder(self) -> str:
        """The placeholder for a value, such as `IRI`; empty for choices and switches."""
        return self.metavar or _PLACEHOLDERS.get(self.kind, "")

    def value(self, given: Any, label: str = "") -> Any:
        """Check a value, or parse it from text.

        Args:
            given: The value or the text.
            label: The name of the option in errors. Defaults to `name`.

        Raises:
            OptionError: If the value is invalid; the text describes the valid values.
            OSError: If the file of a context cannot be read.
        """
        label = label or spell_option(self.name)
        # File names may contain bytes that are not UTF-8. All other text is UTF-8.
        if self.kind in ("file", "log") and isinstance(given, (str, os.PathLike)):
            return os.fspath(given)
        if self.kind == "files" and isinstance(given, Mapping):
            return _parse_files(label, given)
        if self.kind not in ("context", "object"):
            given = _decode_texts(label, given)
        if self.kind == "moment":
            return _parse_datetime(label, given)
        if self.kind == "object":
            return _parse_object(label, given, self.example)
        if self.kind == "context":
            from rdfm.storage.contexts import context_text  # costly to import

            return decode_text(label, context_text(given, label))
        if self.kind == "texts":
            return _parse_texts(label, given)
        if self.repeatable and isinstance(given, str):
            import json  # costly to import

            try:
                given = json.loads(given)
            except (ValueError, RecursionError):
                names = "names to IRIs" if self.kind == "namespaces" else "URLs to files"
                raise OptionError(
                    f"{label} must be a JSON object mapping {names}, not '{given[:60]}'"
                ) from None
        numbers = self.numbers or range(len(self.choices))
        choices = list(zip(self.choices, numbers, strict=True))
        if self.levels and isinstance(given, str) and ":" in given:
            word, _, text = given.partition(":")
            value = _core.option_value(label, self.kind, self.minimum, self.maximum, choices, word)
            return f"{value}:{self._parse_level(label, value, text)}"
        return _core.option_value(label, self.kind, self.minimum, self.maximum, choices, given)

    def _parse_level(self, label: str, word: str, text: str) -> int:
        """The level after a word."""
        for name, lowest, highest in self.levels:
            if name != word:
                continue
            if re.fullmatch("-?[0-9]{1,9}", text) and lowest <= int(text) <= highest:
                return int(text)
            raise OptionError(
                f"{label} must be {word} with a level from {lowest} to {highest}, such as {word}:{highest}, "
                f"not '{word}:{text[:40]}'"
            )
        raise OptionError(f"{label} must be {word} without a level, not '{word}:{text[:40]}'")


def _parse_datetime(label: str, given: Any) -> datetime:
    """A date and time, in UTC unless it has a time zone."""
    from datetime import UTC, datetime  # costly to import

    try:
        moment = given if isinstance(given, datetime) else datetime.fromisoformat(given)
    except (TypeError, ValueError):
        raise OptionError(
            f"{label} must be a date and time, such as 2026-06-01T13:00:00 (UTC) or "
            f"2026-06-01T13:00:00+02:00, not '{str(given)[:40]}'"
        ) from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _parse_texts(label: str, given: Any) -> list[str]:
    """One string or several, as a list."""
    texts = [given] if isinstance(given, str) else given
    if not isinstance(texts, (list, tuple)) or not all(isinstance(text, str) for text in texts):
        raise OptionError(
            f"{label} must be a string or a list of strings, not {type(given).__name__}"
        )
    return list(texts)


def _decode_texts(label: str, given: Any) -> Any:
    """Apply `decode_text` to all strings in the value of an option."""
    if isinstance(given, str):
        return decode_text(label, given)
    if isinstance(given, Mapping):
        return {
            _decode_texts(label, name): _decode_texts(label, value) for name, value in given.items()
        }
    if isinstance(given, (list, tuple)):
        return [_decode_texts(label, item) for item in given]
    return given


def decode_text(label: str, text: str) -> str:
    r"""Convert text that may contain lone surrogates (PEP 383) to text that can be encoded.

    Python creates such surrogates from argument bytes that are not valid in the encoding of the
    locale. Under `LC_ALL=C`, these are all bytes above 127. This function decodes them as UTF-8.

    Args:
        label: The name of the text in errors.
        text: The text.

    Raises:
        OptionError: If the bytes are not UTF-8.

    Example:
        >>> decode_text("any", "caf\udcc3\udca9")
        'café'
        >>> decode_text("any", "caf\udce9")
        Traceback (most recent call last):
        rdfm.errors.OptionError: any is not UTF-8 text: found \xe9 in 'caf\xe9'
    """
    if text.isascii():
        return text
    try:
        return text.encode("utf-8", "surrogateescape").decode("utf-8")
    except UnicodeEncodeError as error:  # a surrogate that does not represent a byte
        character = text[error.start]
    except UnicodeDecodeError as error:
        character = error.object[error.start : error.start + 1].decode("utf-8", "surrogateescape")
    raise OptionError(
        f"{label} is not UTF-8 text: found {visible(character)} in '{visible(text[:40])}'"
    )


def _parse_files(label: str, given: Mapping[Any, Any]) -> dict[str, str]:
    """Check URLs and file names, and return them as text."""
    files = {}
    for url, file in given.items():
        if not isinstance(url, str) or not isinstance(file, (str, os.PathLike)):
            raise OptionError(f"{label} must be a dict mapping URLs to files, not {given!r:.40}")
        files[decode_text(f"a URL of {label}", url)] = os.fspath(file)
    return files


def _parse_object(label: str, given: Any, example: str) -> dict[str, Any]:
    """A JSON object. Errors do not show the value, which may contain credentials."""
    import json  # costly to import

    try:
        value = json.loads(given) if isinstance(given, str) else given
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, Mapping):
        raise OptionError(f"{label} must be a JSON object, such as {example}")
    return dict(value)


@dataclass(frozen=True)
class FormatSpec:
    """The description of a format.

    Attributes:
        name: The name used everywhere, such as `nq`.
        title: The name for display, such as `N-Quads`.
        kinds: The possible kinds of a log: "messages" (datasets), "patches" or "results" (rows).
            If there are several, an empty log is of the first kind.
        written_only: The kinds that can be written but not read.
        suffixes: File name suffixes, the preferred one first, such as `.nq`.
        media_types: Media types, the registered one first.
        aliases: Other common names.
        carries: The features that the format supports: `graphs`, `generalized`, `triple_terms`
            ("no", "object", "anywhere"), `directions`, `boundaries`, `order`, `namespaces`,
            `metadata`, `any_text` (any character in text, and any IRI as a predicate).
        binary: Whether logs are binary and should not be written to a terminal.
        needs: The extra of rdfm that the format needs, if any.
        whole_file: Whether a log is read from its end. Its decoder then gets the file itself, if
            there is one.
        sniff: Detects whether a log is of this format from its first bytes (decompressed, up to 4
            KiB). Returns True, False, or None if more bytes are needed. The second argument is true
            if there are no more bytes.
        resumable: Whether a decoder can continue after an error.
        skips_lines: Whether a decoder can skip lines and keep the rest of their message.
        splittable: Whether a log can be read from the middle.
        append: Whether messages can be appended to a log, and how its end is found: "never", by its
            "last line", by the "lengths" of its messages, or by "decode". Formats written in Python
            cannot be appended to.
        not_appended: The reason why messages cannot be appended, or empty.
        continuable: Whether an encoder accepts a message in parts (batches that `continue`); or the
            names and values of options, each of which enables this.
        suffix_options: Options of the encoder that suffixes imply.
        value_options: Options of the encoder for a value that is a log of one message
            (`rdfm.encode_values`), if the defaults are intended for files.
        reads: The options of the decoder, by name; they may be passed as a sequence.
        writes: The options of the encoder, in the same form.

    Example:
        >>> from rdfm import formats
        >>> formats.find("nq").spec.title
        'N-Quads'
    """

    name: str
    title: str
    kinds: tuple[str, ...] = ("messages",)
    written_only: tuple[str, ...] = ()
    suffixes: tuple[str, ...] = ()
    media_types: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    carries: Mapping[str, Any] = field(default_factory=dict)
    binary: bool = False
    needs: str | None = None
    whole_file: bool = False
    sniff: Callable[[bytes, bool], bool | None] | None = None
    resumable: bool = False
    skips_lines: bool = False
    splittable: bool = False
    append: Literal["never", "last line", "lengths", "decode"] = "never"
    not_appended: str = ""
    continuable: bool | tuple[tuple[str, str], ...] = False
    suffix_options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    value_options: Mapping[str, Any] = field(default_factory=dict)
    reads: Mapping[str, OptionSpec] | Iterable[OptionSpec] = ()
    writes: Mapping[str, OptionSpec] | Iterable[OptionSpec] = ()

    def __post_init__(self) -> None:
        """Index the options by name.

        Raises:
            OptionError: If an option is repeated, or is not an `OptionSpec`.
        """
        for side in ("reads", "writes"):
            given = getattr(self, side)
            options_list = list(given.values() if isinstance(given, Mapping) else given)
            for option in options_list:
                if not isinstance(option, OptionSpec):
                    raise OptionError(
                        f"an option of the format {self.name} must be an OptionSpec, not {type(option).__name__}"
                    )
            options = {option.name: option for option in options_list}
            if len(options) < len(options_list):
                raise OptionError(f"the format {self.name} declares an option twice")
            object.__setattr__(self, side, options)

    def options(self, side: Side) -> Mapping[str, OptionSpec]:
        """Return the options of the decoder or the encoder, by name."""
        options = self.reads if side == "read" else self.writes
        return options  # type: ignore[return-value]  # indexed by name above

    def values(self, side: Side, given: Mapping[str, Any]) -> dict[str, Any]:
        """Check the options given for the decoder or the encoder, and omit those that are None.

        Raises:
            OptionError: If an option is unknown or its value is invalid.
        """
        options = self.options(side)
        values = {}
        for name, value in given.items():
            option = options.get(name)
            if option is None:
                raise OptionError(self.unsupported_option_text(side, name))
            if value is not None:
                values[name] = option.value(value)
        return values

    def unsupported_option_text(self, side: Side, name: str, *, several: bool = False) -> str:
        """Return the error text for an option that the decoder or encoder does not have.

        Args:
            side: The side: "read" or "write".
            name: The option.
            several: Whether other formats, which also lack the option, are read.
        """
        from rdfm import formats

        def titles(side: Side) -> list[str]:
            return [spec.title for spec in formats.specs() if name in spec.options(side)]

        doing, opposite = ("reading", "writing") if side == "read" else ("writing", "reading")
        others = "the input formats" if several else self.title
        if same_side := titles(side):
            return f"the option {spell_option(name)} is for {doing} {join_words(same_side)}, not {others}"
        if other_side := titles("write" if side == "read" else "read"):
            return f"the option {spell_option(name)} is for {opposite} {join_words(other_side)}, not for {doing}"
        if several:
            return f"no format has the option '{name[:40]}'"
        if name in ("from_format", "to_format"):
            return f"there is no option '{name}'; did you mean format?"
        known = ", ".join(sorted(self.options(side))) or "none"
        return f"there is no option '{name[:40]}'; the options for {doing} {self.title} are {known}"

    def accepts_parts(self, options: Mapping[str, Any]) -> bool:
        """Whether an encoder with these options accepts a message in parts."""
        if isinstance(self.continuable, bool):
            return self.continuable
        writes = self.options("write")
        return any(
            str(writes[name].default if options.get(name) is None else options[name]).lower()
            == value
            for name, value in self.continuable
        )


def requires_side(declared: Collection[OptionSpec]) -> bool:
    """Whether users must specify the side of an option in a conversion.

    Args:
        declared: The declarations of the option, one for each side that has it.
    """
    return len(declared) > 1 and not all(option.shared for option in declared)


def join_words(words: list[str]) -> str:
    """Return words as a list in a sentence.

    Example:
        >>> join_words(["N-Triples", "N-Quads", "Jelly"])
        'N-Triples, N-Quads and Jelly'
    """
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def key(name: str) -> str:
    """Return an option's name in a form that ignores case, underscores and hyphens.

    Example:
        >>> key("maxMessageBytes") == key("max_message_bytes")
        True
    """
    return name.replace("_", "").replace("-", "").lower()
