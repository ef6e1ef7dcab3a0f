"""Part files, message rows and streaming queries for tests of the Spark writers."""

import json
import os
from pathlib import Path

import rdfm

NUMBER = "http://ex/number"


def visible_files(folder):
    """Returns the files of a folder whose names do not begin with . or _, sorted by name."""
    return sorted(path for path in Path(folder).iterdir() if path.name[0] not in "._")


def messages_in(folder):
    """Returns the messages of all part files, in order of the file names."""
    messages = []
    for path in visible_files(folder):
        with rdfm.open_log(path) as log:
            messages += list(log)
    return messages


def lines_of(messages):
    """Returns messages as lists of N-Quads lines."""
    return [[str(quad) for quad in message] for message in messages]


def numbers_in(folder):
    """Returns the numbers in the messages that `numbered` created, from the logs in a folder."""
    return [int(message.quads[0].object.value) for message in messages_in(folder)]


def remaining_files(folder):
    """Returns the files that remain in the folder `_rdfm`, except commit records and `ours`."""
    return sorted(
        os.path.relpath(path, folder)
        for path in Path(folder, "_rdfm").rglob("*")
        if path.is_file() and "commits" not in path.parts and path.name != "ours"
    )


def numbered(rows):
    """Converts rows with a column `id` to messages of three quads; the first contains the id."""
    quad = "named_struct('subject', {}, 'predicate', {}, 'object', {}, 'graph', {})"
    subject = "concat('<http://ex/', id, '>')"
    quads = [
        quad.format(subject, f"'<{NUMBER}>'", "concat('\"', id, '\"')", "cast(null as string)"),
        quad.format(subject, "'<http://ex/p>'", "'_:b'", "cast(null as string)"),
        quad.format("'_:b'", "'<http://ex/p>'", "'\"Grüße\"@de'", "cast(null as string)"),
    ]
    return rows.selectExpr("id", f"array({', '.join(quads)}) AS quads")


class Query:
    """A streaming query that reads a folder of numbers and writes a folder of logs."""

    def __init__(self, spark, folder):
        self.spark, self.folder = spark, folder
        self.source, self.out = folder / "source", folder / "out"
        self.checkpoint = folder / "checkpoint"
        self.source.mkdir(exist_ok=True)

    def add(self, *numbers):
        """Adds a file of numbers to the source."""
        name = f"{len(list(self.source.iterdir())):05d}.json"
        lines = "".join(json.dumps({"id": number}) + "\n" for number in numbers)
        (self.folder / name).write_text(lines)
        # Spark reads files in order of modification time.
        os.utime(self.folder / name, (1e9 + int(name[:5]),) * 2)
        (self.folder / name).rename(self.source / name)

    def run(self, **options):
        """Processes all available files, by default one per batch. Returns the query's id."""
        query = self.start(**options)
        query.awaitTermination()
        return query.id

    def start(self, files=1, mode="append", transform=numbered, **options):
        """Starts to process all available files, with `files` files per batch."""
        stream = (
            transform(self.rows(maxFilesPerTrigger=files))
            .writeStream.format("rdfm")
            .outputMode(mode)
        )
        stream = stream.options(**{"to": "jelly", **options})
        stream = stream.option("checkpointLocation", str(self.checkpoint))
        return stream.trigger(availableNow=True).start(str(self.out))

    def rows(self, **options):
        """Returns the source folder as a streaming data frame."""
        return self.spark.readStream.schema("id bigint").options(**options).json(str(self.source))

    def forget_last_commit(self):
        """Simulates a driver crash after the sink's commit, but before Spark records the commit.

        Returns the number of the batch.
        """
        last = max(self.checkpoint.glob("commits/[0-9]*"), key=lambda path: int(path.name))
        last.unlink()
        last.with_name(f".{last.name}.crc").unlink()
        return int(last.name)


class LogQuery(Query):
    """A streaming query that reads a folder of logs and writes another one.

    `kind` is "read_stream" or, for the data source, "format".
    """

    def __init__(self, spark, folder, kind):
        super().__init__(spark, folder)
        self.kind = kind

    def add(self, *numbers):
        """Adds a log with a message for each number to the source."""
        name = f"{len(list(self.source.iterdir())):05d}.nq"
        with rdfm.create_log(self.source / name) as log:
            for number in numbers:
                subject, value = rdfm.Iri(f"http://ex/{number}"), rdfm.Literal(str(number))
                log.write([rdfm.Quad(subject, rdfm.Iri(NUMBER), value)])

    def start(self, **options):
        """Starts to process all available files."""
        return super().start(transform=lambda rows: rows, **options)

    def rows(self, **options):
        """Returns the source folder as a streaming data frame of messages."""
        from rdfm.spark import read_stream

        source = str(self.source)
        if self.kind == "read_stream":
            return read_stream(self.spark, source, **options)
        options["stateLocation"] = str(self.folder / "state")
        return self.spark.readStream.format("rdfm").options(**options).load(source)
