"""Nanopublications: mirrors of registries, and the counters of their messages."""

from rdfm.exchange.nanopub.counters import counter

__all__ = ["counter"]
