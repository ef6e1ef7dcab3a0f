"""Parts of one log, each read on its own: `rdfm.split.plan` and what it gives."""

from rdfm.logs.split import Split, plan

__all__ = ["Split", "plan"]
