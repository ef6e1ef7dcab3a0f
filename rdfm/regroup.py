"""Regrouping messages: the functions of `rdfm.conversion.regroup`."""

from rdfm.conversion.regroup import make, regrouped

__all__ = ["make", "regrouped"]
