"""Options of `rdfm nanopub check` and `list`, except format options."""

from __future__ import annotations

from rdfm.formats import OptionSpec
from rdfm.logs.options import CHECKING, READING, WRITING, declare

__all__ = ["CHECK", "LIST"]

_CHECKS = "Checks"
_LISTING = "List"
_READING = {option.name: option for option in READING}

CHECK: dict[str, OptionSpec] = {
    option.name: option
    for option in declare(
        _READING["from_format"],
        *CHECKING,
        OptionSpec(
            "require",
            "choice",
            "Require trusty URIs, or trusty URIs and signatures.",
            choices=("trusty", "signed"),
            group=_CHECKS,
        ),
        OptionSpec(
            "signatures",
            "switch",
            "Verify signatures (default; needs rdfm[nanopub]), or leave them unchecked.",
            default=True,
            off="no-signatures",
            group=_CHECKS,
        ),
    )
}
LIST: dict[str, OptionSpec] = {
    option.name: option
    for option in declare(
        OptionSpec(
            "latest",
            "switch",
            "Omit nanopublications that were superseded or retracted with the same key.",
            default=False,
            group=_LISTING,
        ),
        _READING["from_format"],
        _READING["message_per_file"],
        _READING["on_error"],
        *WRITING,
    )
}
