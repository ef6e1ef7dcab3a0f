"""Options of the `rdfm nanopub` commands, except format options."""

from __future__ import annotations

from rdfm.formats import OptionSpec
from rdfm.logs.options import CHECKING, READING, SKIP_MESSAGES, WRITING, declare

__all__ = ["CHECK", "FETCH", "LIST"]

_CHECKS = "Checks"
_LISTING = "List"
_MIRROR = "Mirror"
_REQUESTS = "Requests"
_READING = {option.name: option for option in READING}
_WRITING = {option.name: option for option in WRITING}

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
        SKIP_MESSAGES,
        *WRITING,
    )
}
FETCH: dict[str, OptionSpec] = {
    option.name: option
    for option in declare(
        OptionSpec(
            "restart",
            "switch",
            "Remove the log and begin a new one.",
            default=False,
            group=_MIRROR,
        ),
        OptionSpec(
            "follow",
            "switch",
            "Keep running and fetch new nanopublications until interrupted.",
            default=False,
            group=_MIRROR,
        ),
        OptionSpec(
            "interval",
            "count",
            "Seconds between polls while following.",
            default=10,
            metavar="SECONDS",
            group=_MIRROR,
        ),
        OptionSpec(
            "overlap",
            "count",
            "Request the last N counters again, because nanopublications may appear late.",
            default=100,
            group=_MIRROR,
        ),
        OptionSpec(
            "check",
            "switch",
            "Verify the structure and the trusty URI of each nanopublication.",
            default=False,
            group=_MIRROR,
        ),
        OptionSpec(
            "rejects",
            "file",
            "Write nanopublications that fail the check to this log.",
            group=_MIRROR,
        ),
        OptionSpec(
            "test_instance",
            "switch",
            "Allow a registry that is a test instance.",
            default=False,
            group=_MIRROR,
        ),
        _WRITING["to"],
        _WRITING["compression"],
        OptionSpec(
            "allow_http",
            "switch",
            "Allow http for any host, for example in a private network.",
            default=False,
            group=_REQUESTS,
        ),
        OptionSpec(
            "wait",
            "count",
            "Maximum wait for a registry that is starting or empty.",
            default=300,
            metavar="SECONDS",
            group=_REQUESTS,
        ),
        OptionSpec(
            "first_byte_timeout",
            "count",
            "Maximum wait for the first byte of a response.",
            default=300,
            minimum=1,
            metavar="SECONDS",
            group=_REQUESTS,
        ),
    )
}
