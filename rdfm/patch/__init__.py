"""Changes of datasets: patches applied to a dataset, undone, made of logs and of differences.

In: datasets and logs of messages or patches, as `open_log` takes them. Out: a dataset, or a log.
Cost: a dataset that is changed or compared is held in memory, some 30 bytes a quad and as much a term, beside its text;
by structure as objects of Python. The rest holds a batch.
Law: blank nodes of a dataset and of the patches to it are known by their labels.
"""

from rdfm.patch.applying import apply
from rdfm.patch.changes import Changes
from rdfm.patch.differences import diff
from rdfm.patch.logs import from_log, to_log
from rdfm.patch.reverting import revert

__all__ = ["Changes", "apply", "diff", "from_log", "revert", "to_log"]
