"""Changes to datasets: applying, reverting and comparing them, and converting logs to patches.

In: datasets and logs of messages or patches, as for `open_log`. Out: a dataset, or a log.
Cost: a dataset that is changed or compared is stored in memory: about 30 bytes per quad and 30 per
term, plus the text of the terms. With `canonical`, it is stored as Python objects. All other
functions need memory for a batch.
Law: blank nodes of a dataset and of the patches to it are identified by their labels.
"""

from rdfm.patch.applying import apply
from rdfm.patch.changes import Changes
from rdfm.patch.differences import diff
from rdfm.patch.logs import from_log, to_log
from rdfm.patch.reverting import revert

__all__ = ["Changes", "apply", "diff", "from_log", "revert", "to_log"]
