"""Writes and reads the logs that `rdfm serve` serves in tests, without the server."""

from pathlib import Path

from support import as_batch, quads_of

import rdfm

GRAPH = ("iri", "http://example.org/g")


def write(path, messages, **options):
    """Writes a log of messages."""
    with rdfm.create_log(path, **options) as log:
        log.write_batch(as_batch(messages))


def append(path, *messages, **options):
    """Appends messages to a log."""
    write(path, list(messages), append=True, **options)


def messages_in(source, **options):
    """Returns the messages of a log."""
    with rdfm.open_log(source, **options) as log:
        return [quads_of(batch, n) for batch in log.batches() for n in range(len(batch))]


def memory(process):
    """Returns the resident memory of a process in bytes."""
    statm = Path(f"/proc/{process.pid}/statm").read_text()
    return int(statm.split()[1]) * 4096
