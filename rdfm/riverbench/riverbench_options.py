"""Options of `package` and `check`, except format options."""

from __future__ import annotations

from dataclasses import replace

from rdfm.formats import OptionSpec
from rdfm.logs.options import CHECKING, READING, WRITING, declare
from rdfm.riverbench.names import DATASET, STREAM_TYPES

__all__ = ["CHECK", "PACKAGE"]

_INPUT = "Input"
_DATASET = "Dataset"
_OUTPUT = "Output"

_READING = {option.name: option for option in READING}
_WRITING = {option.name: option for option in WRITING}

PACKAGE: dict[str, OptionSpec] = {
    option.name: option
    for option in declare(
        replace(_READING["from_format"], help="Format of LOG, such as nq (default: detected)."),
        replace(
            _READING["message_per_file"],
            help="Read each file of LOG as one message, even if it is empty.",
        ),
        OptionSpec(
            "stream_type",
            "choice",
            "RDF-STaX stream type, which each message must match. One of "
            + ", ".join(STREAM_TYPES)
            + ".",
            choices=tuple(STREAM_TYPES),
            metavar="TYPE",
            group=_DATASET,
        ),
        OptionSpec(
            "metadata",
            "file",
            "Metadata of the dataset's source (metadata.ttl), which declares the stream type.",
            group=_DATASET,
        ),
        OptionSpec(
            "time_property",
            "iri",
            "Property in the default graph that gives the time of the named graph.",
            group=_DATASET,
        ),
        OptionSpec(
            "rdf12",
            "switch",
            "Accept triple terms and base directions; announce flat files as 1.2-messages.",
            default=False,
            group=_DATASET,
        ),
        OptionSpec(
            "iri",
            "iri",
            "IRI of the dataset in the metadata.",
            default=DATASET,
            group=_DATASET,
        ),
        OptionSpec(
            "plain_flat",
            "switch",
            "Write flat files without message boundaries, as before June 2026.",
            default=False,
            group=_OUTPUT,
        ),
        _WRITING["overwrite"],
    )
}
CHECK: dict[str, OptionSpec] = {
    option.name: option
    for option in declare(
        replace(
            PACKAGE["metadata"],
            help="Metadata of the dataset's source (metadata.ttl), which may declare further rules "
            "for messages.",
        ),
        OptionSpec(
            "sizes",
            help="Check only the distributions of these sizes, such as 10K or 10K,full.",
            metavar="SIZE,…",
            group=_DATASET,
        ),
        *(option for option in CHECKING if option.name in ("strict", "max_errors")),
    )
}
