"""Store a log in a Delta table, append to the table, and export a version of it as a log.

Needs the packages `rdfm[arrow]` and `deltalake`, but neither Java nor Spark:

    python delta_lake.py observations.trig TABLE OUT

`TABLE` is a new folder. `OUT` gets the first version of the table, in the format of its suffix.
"""

import sys

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake

import rdfm


def main(log: str, table: str, out: str) -> None:
    """Write the log twice, and read the first version again."""
    # A reader is an Arrow stream, so the log is never in memory completely.
    for mode in ("error", "append"):
        with rdfm.open_log(log) as messages:
            write_deltalake(table, messages, mode=mode)
    for version in (0, 1):
        count = (
            DeltaTable(table, version=version).to_pyarrow_table(columns=["message_index"]).num_rows
        )
        print(f"version {version}: {count} messages")

    # A table has no order, so the keys of the rows restore that of the log.
    rows: pa.Table = DeltaTable(table, version=0).to_pyarrow_table()
    rows = rows.sort_by([("source", "ascending"), ("message_index", "ascending")])
    with rdfm.create_log(out) as copy:
        for batch in rows.to_batches():
            copy.write_batch(rdfm.MessageBatch.from_arrow(batch))

    difference = rdfm.diff(log, out)
    print("equal" if difference.equal else "different")


if __name__ == "__main__":
    main(*sys.argv[1:])
