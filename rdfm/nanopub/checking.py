"""Checks of nanopublications: structure, trusty URIs and signatures.

In: inputs that `open_log` accepts. Out: `Finding`s, as in `rdfm.validate`, and counts.
Cost: memory for one batch. Structure and artifact codes are checked in the core; verifying a
signature takes about 40 µs.
Law: the order of quads, the division into batches and the format of a log do not change the
findings.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Unpack

from rdfm._core import MessageBatch, check_nanopubs
from rdfm.analysis.finding import READING_RULES, Rule
from rdfm.analysis.log_check import (
    MAX_WARNINGS,
    LogCheck,
    LogState,
    check_settings,
    next_message_offset,
)
from rdfm.logs.input.driver import ReadSettings
from rdfm.logs.input.inputs import Readable, input_list
from rdfm.logs.input.progress import ProgressFunction
from rdfm.logs.kinds import wrong_kind_error
from rdfm.nanopub.nanopub_options import CHECK
from rdfm.nanopub.signatures import SignatureVerifier

if TYPE_CHECKING:
    from rdfm.formats.options_generated import ReadOptions
    from rdfm.message import AnyBatch

__all__ = ["RULES", "NanopubCheck", "check"]

RULES: dict[str, Rule] = {
    "nanopub-head": Rule("error", "A message does not declare exactly one nanopublication."),
    "nanopub-default-graph": Rule("error", "A quad is in the default graph."),
    "nanopub-link": Rule(
        "error", "The head does not name one assertion, one provenance and one publication info."
    ),
    "nanopub-graph-iri": Rule(
        "error",
        "Two graphs are the same, or the IRI of a graph does not begin with the IRI of the "
        "nanopublication.",
    ),
    "nanopub-extra-graph": Rule("error", "There is a fifth graph."),
    "nanopub-empty-graph": Rule(
        "error", "The assertion, the provenance or the publication info is empty."
    ),
    "nanopub-reference": Rule(
        "error",
        "The provenance is not about the assertion, or the publication info is not about the "
        "nanopublication.",
    ),
    "nanopub-iri": Rule("error", "An IRI does not conform to RFC 3987."),
    "artifact-code": Rule("error", "The artifact code in the IRI does not match the quads."),
    "signature": Rule("error", "A signature is incomplete or invalid."),
    "not-trusty": Rule("error", "A nanopublication lacks the required trusty URI."),
    "not-signed": Rule("error", "A nanopublication lacks the required signature."),
    "ill-typed-literal": Rule(
        "error",
        "The text of a literal is not in the lexical space of its datatype (with a trusty URI: "
        "a warning).",
    ),
    "several-nanopubs": Rule("warning", "A message contains several nanopublications."),
    "old-signature": Rule("warning", "A signature uses an old scheme, and is not checked."),
    **READING_RULES,
}


def check(
    inputs: Readable | Iterable[Readable],
    format: str | None = None,
    *,
    require: Literal["trusty", "signed"] | None = None,
    signatures: bool = True,
    strict: bool = False,
    max_errors: int | None = None,
    max_warnings: int = MAX_WARNINGS,
    compression: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    progress: ProgressFunction = None,
    **options: Unpack[ReadOptions],
) -> NanopubCheck:
    r"""Check nanopublications, one in each message: structure, trusty URI and signature.

    The nanopublication guidelines define the structure: a head graph that names three others.
    The artifact code of a trusty URI (module RA of the trusty URI specification, version 1) is
    computed from the quads. A signature in the publication info (RSA or DSA) is verified. A
    nanopublication without a trusty URI or signature is valid unless `require` is given.

    Args:
        inputs: One input that `open_log` accepts, or several.
        format: Format of all inputs. Detected for each input by default.
        require: "trusty" reports nanopublications without a trusty URI as errors; "signed" also
            reports those without a signature.
        signatures: Whether to verify signatures (extra: nanopub).
        strict: Count warnings as errors, and return all of them.
        max_errors: Stop after this number of errors.
        max_warnings: Number of warnings to return for each rule. Further warnings are only counted.
        compression: As in `open_log`.
        storage_options: As in `open_log`.
        progress: True for a progress bar, or a function to call about ten times per second.
        **options: Options of the decoders. Each log takes the options that its format supports.

    Returns:
        An iterable of findings, with their counts. The logs are read during iteration.

    Raises:
        OptionError: If no format supports an option, or a value is invalid.
        UnknownFormatError: If the given format does not exist.
        MissingExtraError: If `cryptography` is not installed, and `signatures` is not False.

    Example:
        >>> log = b'<x:s> <x:p> <x:o> <x:g> .\n'
        >>> checked = check(log, "nq", signatures=False)
        >>> for found in checked:
        ...     print(found.rule, found.text)
        nanopub-head no quad has rdf:type np:Nanopublication, expected one in the head
        >>> checked.nanopubs, checked.errors
        (0, 1)
    """
    require = CHECK["require"].value(require) if require is not None else None
    input_items = input_list(inputs)
    settings = ReadSettings(
        format,
        options,
        compression,
        storage_options,
        strict=len(input_items) == 1,
        reject_unreadable=True,
    )
    check_settings(input_items, settings, max_errors, max_warnings, "check")
    return NanopubCheck(
        input_items,
        settings,
        strict=strict,
        max_errors=max_errors,
        max_warnings=max_warnings,
        progress=progress,
        require=require,
        verifier=SignatureVerifier() if signatures else None,
    )


@dataclass
class NanopubCheck(LogCheck):
    """Findings in nanopublications, and their counts so far. Returned by `check`.

    Iteration reads the logs, and is possible only once. Accessing a count before iteration reads
    all logs.
    """

    _RULES = RULES

    require: Literal["trusty", "signed"] | None = None
    verifier: SignatureVerifier | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Initialize the counts."""
        super().__post_init__()
        self._nanopubs = self._trusty = self._signed = 0

    @property
    def nanopubs(self) -> int:
        """Number of nanopublications."""
        self._read()
        return self._nanopubs

    @property
    def trusty(self) -> int:
        """Number of nanopublications whose artifact code is correct."""
        self._read()
        return self._trusty

    @property
    def signed(self) -> int:
        """Number of nanopublications whose signature was verified."""
        self._read()
        return self._signed

    def summary(self) -> dict[str, Any]:
        """Return the counts as a dictionary that can be serialized as JSON."""
        names = ("nanopubs", "trusty", "signed")
        return {**super().summary(), **{name: getattr(self, name) for name in names}}

    def _inspect(self, log: LogState, batch: AnyBatch, header: Mapping[str, Any]) -> None:
        if not isinstance(batch, MessageBatch):
            raise wrong_kind_error(log.source.name, batch.kind, "nanopublications are messages")
        previous = -1
        for number, count, uri, is_trusty, problems, signature in check_nanopubs(batch):
            if self._has_enough_errors():
                break
            self._nanopubs += uri is not None
            self._trusty += is_trusty
            if count > 1 and number != previous:
                text = f"the message contains {count} nanopublications, expected one"
                self._report_problem(log, batch, number, "several-nanopubs", text)
            previous = number
            for rule, is_error, text, spelling in problems:
                severity: Literal["error", "warning"] = "error" if is_error else "warning"
                self._report_problem(log, batch, number, rule, text, severity, spelling)
            is_signed = signature is not None
            if self.verifier is not None and signature is not None:
                reason = self.verifier.find_reason(*signature)
                if reason is not None:
                    self._report_problem(log, batch, number, "signature", reason)
                self._signed += reason is None
            if uri is not None:
                self._check_required(log, batch, number, uri, is_trusty, is_signed, problems)

    def _check_required(
        self,
        log: LogState,
        batch: MessageBatch,
        number: int,
        uri: str,
        is_trusty: bool,
        is_signed: bool,
        problems: list[tuple[str, bool, str, bytes]],
    ) -> None:
        """Report a missing trusty URI or signature if it is required."""
        reported = {rule for rule, *_ in problems}
        if self.require is not None and not is_trusty and "artifact-code" not in reported:
            text = f"<{uri}> is not a trusty URI: expected RA and 43 more characters at its end"
            self._report_problem(log, batch, number, "not-trusty", text)
        if self.require == "signed" and not is_signed and "signature" not in reported:
            text = f"<{uri}> has no signature"
            self._report_problem(log, batch, number, "not-signed", text)

    def _report_problem(
        self,
        log: LogState,
        batch: MessageBatch,
        number: int,
        rule: str,
        text: str,
        severity: Literal["error", "warning"] | None = None,
        spelling: bytes = b"",
    ) -> None:
        severity = severity or RULES[rule].severity
        if severity == "warning" and not self._returns_warning(rule):
            return
        index = batch.message_index(number)
        where = self._find_location(
            log, batch.byte_offset(number), next_message_offset(batch, index), rule, spelling
        )
        self._add(log, rule, text, severity, message_index=index, **where)
