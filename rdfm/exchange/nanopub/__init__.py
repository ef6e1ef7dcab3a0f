"""Nanopublications: registry mirrors, checks, lists, and message counters."""

from rdfm.exchange.nanopub import trusty
from rdfm.exchange.nanopub.checking import NanopubCheck, check
from rdfm.exchange.nanopub.counters import counter
from rdfm.exchange.nanopub.errors import MirrorError, RegistryResetError, RejectedError
from rdfm.exchange.nanopub.fetching import FetchProgress, FetchResult, fetch
from rdfm.exchange.nanopub.listing import NanopubList, NanopubRow, list_nanopubs
from rdfm.exchange.nanopub.registry import RegistryState
from rdfm.exchange.nanopub.statuses import status

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
    "list_nanopubs",
    "status",
    "trusty",
]
