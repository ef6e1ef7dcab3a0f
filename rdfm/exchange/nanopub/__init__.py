"""Nanopublications: mirrors of registries, and the counters of their messages."""

from rdfm.exchange.nanopub.counters import counter
from rdfm.exchange.nanopub.fetching import Fetched, FetchProgress, fetch
from rdfm.exchange.nanopub.registry import RegistryState
from rdfm.exchange.nanopub.statuses import status

__all__ = ["FetchProgress", "Fetched", "RegistryState", "counter", "fetch", "status"]
