"""Nanopublications: registry mirrors, checks, lists, and message counters."""

from rdfm.nanopub import trusty
from rdfm.nanopub.checking import NanopubCheck, check
from rdfm.nanopub.commands import list, status
from rdfm.nanopub.counters import counter
from rdfm.nanopub.errors import MirrorError, RegistryResetError, RejectedError
from rdfm.nanopub.fetching import FetchProgress, FetchResult, fetch
from rdfm.nanopub.listing import NanopubList, NanopubRow
from rdfm.nanopub.registry import RegistryState

__all__ = [
    "FetchProgress",
    "FetchResult",
    "MirrorError",
    "NanopubCheck",
    "NanopubList",
    "NanopubRow",
    "RegistryResetError",
    "RegistryState",
    "RejectedError",
    "check",
    "counter",
    "fetch",
    "list",
    "status",
    "trusty",
]
