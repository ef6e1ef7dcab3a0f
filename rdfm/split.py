"""Splits of a log, which can be read independently: `plan` and `Split`."""

from rdfm.logs.input.splits import Split
from rdfm.logs.read.plan import plan

__all__ = ["Split", "plan"]
