"""Splits of a log, which can be read independently: `plan` and `Split`."""

from rdfm.logs.plan import plan
from rdfm.logs.split import Split

__all__ = ["Split", "plan"]
