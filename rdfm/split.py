"""Parts of one log, each read on its own: `rdfm.split.plan` and what it gives."""

from rdfm.logs.plan import plan
from rdfm.logs.split import Split

__all__ = ["Split", "plan"]
