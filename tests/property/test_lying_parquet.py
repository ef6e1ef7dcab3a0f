"""Parquet files whose footers and page headers are wrong are read in bounded memory, or rejected."""

import io
import sys
from itertools import product

import pytest
from measured import measured
from parquet_lies import DICTIONARY_PAGE, levels, rewritten, run

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

TEXT = f'"{"x" * (1 << 20)}"'  # 1 MiB, stored once
TERMS = {"subject": "<a:s>", "predicate": "<a:p>", "object": TEXT}


def written(table):
    file = io.BytesIO()
    options = {"compression": "none", "store_schema": False, "write_statistics": False}
    parquet.write_table(table, file, dictionary_pagesize_limit=8 << 20, **options)
    return file.getvalue()


QUADS = written(pa.table({"message_index": [0, 1], **{name: [TERMS[name]] * 2 for name in TERMS}}))
MESSAGES = written(pa.table({"quads": [[TERMS, TERMS], [TERMS]]}))


def repeat(data, count, lists):
    """Returns the pages of a file with runs: `count` repetitions of the first dictionary entry.

    With `lists`, they are in one list. The footer declares them correctly.
    """

    def page(column, header, content):
        if header[1][1] != DICTIONARY_PAGE:
            header[5][1][1] = (5, count)
            repetitions = levels((0, 1), (1, count - 1), width=1) if lists else b""
            definitions = levels((4, count), width=3) if lists else levels((1, count), width=1)
            content = repetitions + definitions + b"\x08" + run(0, count, 8)
            header[2] = header[3] = (5, len(content))
        return content

    def footer(metadata):
        declare(values=count, rows=1 if lists else count)(metadata)

    return rewritten(data, page, footer)


def declare(values=None, rows=None, size=None):
    """Returns a function that changes what a footer declares."""

    def change(metadata):
        for group in metadata[4][1][1]:
            if rows is not None:
                metadata[3] = group[3] = (6, rows)
            if size is not None:
                group[2] = (6, size)
            for chunk in group[1][1][1]:
                if values is not None:
                    chunk[3][1][5] = (6, values)
                if size is not None:
                    chunk[3][1][6] = (6, size)

    return change


FOOTERS = {
    "true": declare(),
    "few values": declare(values=1),
    "many values": declare(values=1 << 40),
    "no rows": declare(rows=0),
    "one row": declare(rows=1),
    "many rows": declare(rows=1 << 40),
    "small sizes": declare(size=0),
    "few of all": declare(values=1, rows=1, size=0),
}
BOMBS = {
    "quads": repeat(QUADS, 500, lists=False),
    "a list of quads": repeat(MESSAGES, 500, lists=True),
    "a list of many quads": repeat(MESSAGES, 30_000_000, lists=True),
}
READ = """
import sys, rdfm
for path in sys.argv[1:]:
    print(path, flush=True, file=sys.stderr)
    try:
        with rdfm.open_log(path, parts=True) as log:
            for batch in log.batches():
                pass
    except rdfm.DecodeError as error:
        print(error, file=sys.stderr)
"""


def read(tmp_path, files):
    """Reads files in one process, with bounded memory. Returns the errors by name."""
    paths = [tmp_path / f"{number}.parquet" for number in range(len(files))]
    for path, data in zip(paths, files.values(), strict=True):
        path.write_bytes(data)
    code, resident, output, _ = measured("-c", READ, *paths, program=sys.executable)
    assert code == 0, output
    assert resident < 500_000_000, output
    found = dict.fromkeys(files, "")
    names = dict(zip(map(str, paths), files, strict=True))
    name = ""
    for line in output.splitlines():
        name = names.get(line, name)
        found[name] += "" if line in names else line
    return found


def test_repeated_values_are_bounded_whatever_the_footer_declares(tmp_path):
    files = {
        (bomb, lie): rewritten(data, footer=footer)
        for bomb, data in BOMBS.items()
        for lie, footer in FOOTERS.items()
    }
    errors = read(tmp_path, files)
    assert errors["quads", "true"] == ""
    assert "row 0 has more than" in errors["a list of quads", "true"]
    assert "row 0 has more than" in errors["a list of many quads", "true"]


def test_page_headers_with_wrong_numbers_are_bounded(tmp_path):
    def lie(kind, field, number):
        def page(column, header, content):
            if header[1][1] == kind:
                if field == "values":
                    header[7 if kind else 5][1][1] = (5, number)
                else:
                    header[2 if field == "size" else 3] = (5, number)
            return content

        return page

    kinds, fields = (0, DICTIONARY_PAGE), ("values", "size", "size in the file")
    files = {
        (len(data), *key): rewritten(data, lie(*key))
        for data in (QUADS, MESSAGES)
        for key in product(kinds, fields, (0, 1, 1 << 20, (1 << 31) - 1))
    }
    errors = read(tmp_path, files)
    largest = [error for key, error in errors.items() if key[-1] == (1 << 31) - 1]
    assert all("parquet: " in error for error in largest), errors


def test_indexes_outside_of_the_dictionary_are_an_error(tmp_path):
    def page(column, header, content):
        if header[1][1] != DICTIONARY_PAGE:
            content = levels((1, 2), width=1) + b"\x08" + run(200, 2, 8)
            header[2] = header[3] = (5, len(content))
        return content

    errors = read(tmp_path, {"index": rewritten(QUADS, page)})
    assert "parquet: the file is corrupt" in errors["index"]
