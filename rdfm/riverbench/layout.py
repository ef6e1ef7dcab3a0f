"""The layout of the files in a package: stream options, announcements and times in archives.

In: the header of a file, or its bytes. Out: errors and warnings, one sentence each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

from rdfm.riverbench.declared import Declared
from rdfm.riverbench.names import StreamType

__all__ = ["announcement_problems", "option_problems", "time_problem"]

_LABELS = ("1.1", "1.1-messages", "1.2-messages")
_BLOCK = 512
_Problem = tuple[Literal["error", "warning"], str]


def option_problems(
    options: Mapping[str, Any],
    stream_type: StreamType,
    declared: Declared | None,
    *,
    triple_terms: bool,
) -> Iterator[_Problem]:
    """Yield the errors and warnings about the stream options of a Jelly file.

    Args:
        options: The options.
        stream_type: The declared stream type.
        declared: The declared properties, if the metadata has them.
        triple_terms: Whether the messages contain triple terms.
    """
    wanted = {
        "physical_type": "triples" if stream_type.has_triples else "quads",
        "logical_type": stream_type.name,
        "name_table": 4000,
        "prefix_table": 150,
        "datatype_table": 32,
    }
    for name, value in wanted.items():
        found = options.get(name)
        shown = found.replace("_", "-") if isinstance(found, str) else found
        if shown != value:
            is_size = name.endswith("table")
            text = f"the stream option {name} is {shown}, expected {value}"
            yield "warning" if is_size else "error", text
    flags = {"rdf_star": triple_terms, "generalized": False}
    if declared is not None:
        flags = {"rdf_star": declared.rdf12, "generalized": declared.generalized}
    for name, needed in flags.items():
        feature = "triple terms" if name == "rdf_star" else "generalized RDF"
        shown = str(bool(options.get(name))).lower()
        if needed and shown == "false":
            reason = f"the dataset declares {feature}" if declared else "there are triple terms"
            yield "error", f"the stream option {name} is false, but {reason}"
        elif declared is not None and not needed and shown == "true":
            yield (
                "warning",
                f"the stream option {name} is true, but the dataset does not declare {feature}",
            )


def announcement_problems(
    label: str | None, *, rdf12: bool, is_declared: bool
) -> Iterator[_Problem]:
    """Yield the errors and warnings about the announcement of a flat file.

    Args:
        label: The label; `None` without an announcement, empty if the file cannot be read.
        rdf12: Whether the messages contain triple terms or base directions.
        is_declared: Whether the metadata or the Jelly files allow them.
    """
    if not label:
        return
    if label not in _LABELS:
        yield (
            "error",
            f"the file is announced as '{label[:40]}', expected 1.1-messages or 1.2-messages",
        )
    elif rdf12 and label != "1.2-messages":
        yield (
            "error",
            f"the file is announced as '{label}', but contains triple terms or base directions, "
            "expected 1.2-messages",
        )
    elif label == "1.2-messages" and not rdf12 and not is_declared:
        yield (
            "warning",
            "the file is announced as '1.2-messages', but RDF 1.2 is neither used nor declared, "
            "expected 1.1-messages",
        )


def time_problem(pieces: Iterable[bytes]) -> str | None:
    """Return a warning about the first file of an archive whose modification time is not 0.

    Invalid archives are not reported here, because reading their messages reports them.

    Args:
        pieces: The uncompressed archive.
    """
    data = bytearray()
    skip = 0
    for piece in pieces:
        if skip >= len(piece):
            skip -= len(piece)
            continue
        data += memoryview(piece)[skip:]
        skip = at = 0
        while len(data) - at >= _BLOCK:
            name = bytes(data[at : at + 100]).rstrip(b"\0")
            size = _octal(data[at + 124 : at + 136])
            time = _octal(data[at + 136 : at + 148])
            if not name or size is None:  # the end, or not an archive
                return None
            if time != 0 and data[at + 156] in b"0\0":
                shown = "not a number" if time is None else time
                file = name.decode("utf-8", "replace")[:80]
                return f"the modification time of {file} is {shown}, expected 0"
            at += _BLOCK + -(-size // _BLOCK) * _BLOCK
        skip = max(at - len(data), 0)
        del data[:at]
    return None


def _octal(field: bytearray) -> int | None:
    """Return the number in a field of a header; `None` if it is not octal."""
    try:
        return int(bytes(field).strip(b" \0") or b"0", 8)
    except ValueError:
        return None
