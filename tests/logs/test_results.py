"""Logs of results: rows, heads, boolean answers, and files after an error."""

import bz2
import gzip
import io

import pytest

import rdfm
from rdfm import (
    BlankNode,
    DecodeError,
    EncodeError,
    Iri,
    Literal,
    OptionError,
    ResultBatch,
    TruncatedError,
    UnknownFormatError,
)

S = Iri("http://e/s")
ROWS = [(S, None), (None, None), (BlankNode("b"), Literal("1", language="en")), (S, S)]
TSV = b'?a\t?b\n<http://e/s>\t\n\t\n_:b\t"1"@en\n<http://e/s>\t<http://e/s>\n'
ASK_RESULT = b'{"head":{"link":["more"]},"boolean":false}'
FORMATS = [
    name for name in rdfm.formats.names() if rdfm.formats.find(name).spec.kinds == ("results",)
]
LOSSLESS_FORMATS = [name for name in FORMATS if name != "results-csv"]


def written(rows, variables, name, **options):
    file = io.BytesIO()
    with rdfm.create_log(file, name, kind="results", variables=variables, **options) as results:
        for row in rows:
            results.write(row)
    return file.getvalue()


@pytest.mark.parametrize("name", LOSSLESS_FORMATS)
def test_rows_round_trip(name, tmp_path):
    suffix = rdfm.formats.find(name).spec.suffixes[0]
    path = tmp_path / f"r{suffix}"
    with rdfm.create_log(path, kind="results", variables=["a", "b"]) as results:
        assert repr(results) == f"<LogWriter {path}: {name}>"
        for row in ROWS:
            results.write(row)
        assert not path.exists()
    with rdfm.open_log(path, kind="results") as results:
        assert repr(results) == f"<ResultReader {path}: {name}>"
        assert (results.variables, results.boolean, results.links) == (("a", "b"), None, ())
        assert list(results) == ROWS
    assert path.read_bytes() == written(ROWS, ("a", "b"), name)


def test_csv_contains_text_without_term_kinds():
    with pytest.raises(EncodeError, match="cannot distinguish IRIs"):
        written(ROWS, ["a", "b"], "results-csv")
    data = written(ROWS, ["a", "b"], "results-csv", lossy=True)
    with rdfm.open_log(data, "results-csv", kind="results") as results:
        texts = [tuple(cell and cell.value for cell in row) for row in results]
    assert texts == [("http://e/s", None), (None, None), ("_:b", "1"), ("http://e/s", "http://e/s")]


@pytest.mark.parametrize("name", LOSSLESS_FORMATS)
@pytest.mark.parametrize("variables", [[], ["a"], ["a", "é ²", "c"]])
@pytest.mark.parametrize("rows", [0, 1, 2])
def test_any_number_of_variables_and_rows_round_trips(name, variables, rows):
    unbound = [(None,) * len(variables)] * rows
    with rdfm.open_log(written(unbound, variables, name), name, kind="results") as results:
        assert results.variables == tuple(variables)
        assert list(results) == unbound


@pytest.mark.parametrize("name", ["results-json", "results-xml", "results-jelly"])
@pytest.mark.parametrize("answer", [True, False])
def test_boolean_answers_round_trip(name, answer):
    data = written([], (), name, boolean=answer, links=["more", "http://e/"])
    with rdfm.open_log(data, name, kind="results") as results:
        assert results.boolean is answer
        assert (results.variables, list(results)) == ((), [])
        assert results.links == ("more", "http://e/")


@pytest.mark.parametrize(
    "name", sorted({*FORMATS} - {"results-json", "results-xml", "results-jelly"})
)
def test_boolean_answers_are_rejected_by_formats_without_booleans(name, tmp_path):
    path = tmp_path / "answer"
    with pytest.raises(EncodeError, match="ASK"):
        rdfm.create_log(path, name, kind="results", boolean=True)
    assert list(tmp_path.iterdir()) == []


def test_links_that_are_dropped_are_counted():
    file = io.BytesIO()
    with rdfm.create_log(
        file, "results-tsv", kind="results", variables=["a"], links=["one", "two"]
    ) as results:
        results.write([S])
        results.write([S])
    assert results.dropped == {"links": 2}
    assert file.getvalue() == b"?a\n<http://e/s>\n<http://e/s>\n"


def test_variables_are_available_before_all_rows_are_read(tmp_path):
    path = tmp_path / "r.tsv.gz"
    path.write_bytes(gzip.compress(b"?a\n" + b'"x"\n' * 500_000))
    with rdfm.open_log(path, kind="results") as results:
        assert results.variables == ("a",)
        batches = results.batches()
        first = next(batches)
        assert len(first) < 500_000
        assert len(first) + sum(map(len, batches)) == 500_000


def test_a_second_loop_continues_the_first():
    with rdfm.open_log(TSV, "results-tsv", kind="results") as results:
        for row in results:
            assert row == ROWS[0]
            break
        assert next(iter(results)) == ROWS[1]
        assert results.variables == ("a", "b")
        (rest,) = results.batches()
        assert (rest.first_message_index, list(rest)) == (2, ROWS[2:])
        with pytest.raises(ValueError, match="bytes has been read to the end"):
            list(results)
        with pytest.raises(ValueError, match="read to the end"):
            list(results.batches())


def test_rows_before_an_error_are_returned():
    with rdfm.open_log(TSV[:-20] + b"oops\n", "results-tsv", kind="results") as results:
        rows = []
        with pytest.raises(DecodeError, match="line 5") as caught:
            rows.extend(results)
        assert rows == ROWS[:3]
        assert caught.value.message_index == 3
        with pytest.raises(ValueError, match="read to the end"):
            list(results)
        assert results.variables == ("a", "b")


def test_an_error_in_the_head_is_raised_by_the_first_access():
    for access in (
        lambda results: results.variables,
        lambda results: results.boolean,
        lambda results: results.links,
        list,
        lambda results: list(results.batches()),
        lambda results: results.to_rdflib(),
        lambda results: results.to_oxigraph(),
    ):
        with rdfm.open_log(b'{"head":{"vars":["a","a', "results-json", kind="results") as results:
            with pytest.raises(TruncatedError, match="bytes: results-json"):
                access(results)
            with pytest.raises(TruncatedError, match="bytes: results-json"):
                results.variables  # noqa: B018 - raises


def test_messages_and_patches_are_rejected(tmp_path):
    path = tmp_path / "a.nq"
    path.write_bytes(b"")
    with pytest.raises(
        OptionError, match=r'a\.nq contains messages, not results; kind="messages" reads them'
    ):
        rdfm.open_log(path, kind="results")
    with pytest.raises(OptionError, match="contains patches, not results"):
        rdfm.open_log(b"", "rdf-patch", kind="results")
    for format in ("nq", "jelly-patch", "jsonld"):
        target = tmp_path / "out"
        with pytest.raises(OptionError, match=r"not for results; kind=.* writes them"):
            rdfm.create_log(target, format, kind="results", variables=["a"])
        assert not target.exists()


def test_undetectable_formats_and_unknown_options_are_rejected(tmp_path):
    with pytest.raises(UnknownFormatError):
        rdfm.create_log(tmp_path / "r.unknown", kind="results", variables=["a"])
    with pytest.raises(UnknownFormatError):
        rdfm.open_log(b"\0\1\2", kind="results")
    with pytest.raises(UnknownFormatError):
        rdfm.open_log(TSV, "no-such-format", kind="results")
    with pytest.raises(OptionError, match="dialect"):
        rdfm.open_log(TSV, "results-tsv", kind="results", dialect="comment")
    with pytest.raises(OptionError, match="lossy"):
        rdfm.create_log(tmp_path / "r.srj", kind="results", variables=["a"], lossy=True)
    with pytest.raises(FileNotFoundError):
        rdfm.open_log(tmp_path / "none.srj", kind="results")
    with pytest.raises(FileNotFoundError):
        rdfm.create_log(tmp_path / "none" / "r.srj", kind="results", variables=["a"])
    assert list(tmp_path.iterdir()) == []


def test_options_reach_the_decoder():
    with (
        rdfm.open_log(TSV, "results-tsv", kind="results", max_message_bytes=20) as results,
        pytest.raises(rdfm.LimitError),
    ):
        list(results)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"variables": "ab"}, "a list of names"),
        ({"variables": ["a"], "boolean": True}, "ASK query have no variables"),
    ],
)
def test_invalid_heads_are_rejected(arguments, reason, tmp_path):
    path = tmp_path / "r.srj"
    with pytest.raises(OptionError, match=reason):
        rdfm.create_log(path, kind="results", **arguments)
    assert list(tmp_path.iterdir()) == []


def test_duplicate_and_non_string_variables_are_rejected(tmp_path):
    for name in FORMATS:
        with pytest.raises(EncodeError, match="'a' occurs twice"):
            rdfm.create_log(tmp_path / "r", name, kind="results", variables=["a", "b", "a"])
    with pytest.raises(TypeError):
        rdfm.create_log(tmp_path / "r.srj", kind="results", variables=[1])
    assert list(tmp_path.iterdir()) == []


def test_an_invalid_row_changes_nothing():
    file = io.BytesIO()
    with rdfm.create_log(file, "results-tsv", kind="results", variables=["a", "b"]) as results:
        results.write(ROWS[0])
        for cells, count in (([S], 1), ([S, S, S], 3), ([], 0)):
            with pytest.raises(ValueError, match=f"{count} cells, but there are 2 variables"):
                results.write(cells)
        with pytest.raises(TypeError, match="a cell must be a term or None, not str"):
            results.write("ab")
        with pytest.raises(TypeError, match="a cell must be a term or None, not Quad"):
            results.write([S, rdfm.Quad(S, S, S)])
        with pytest.raises(TypeError):
            results.write(None)
        results.write(iter(ROWS[1]))
    assert file.getvalue() == TSV[: TSV.index(b"_:b")]


def test_a_boolean_answer_has_no_rows():
    file = io.BytesIO()
    results = rdfm.create_log(file, "results-json", kind="results", boolean=True)
    with pytest.raises(ValueError, match="ASK query have no rows"):
        results.write([])
    results.close()
    assert file.getvalue() == b'{"head":{},"boolean":true}\n'
    with pytest.raises(ValueError, match="ASK query has no rows"):
        ResultBatch.from_rows([[]], [], boolean=True)


def test_batches_are_written_between_rows():
    file = io.BytesIO()
    with (
        rdfm.open_log(TSV, "results-tsv", kind="results") as source,
        rdfm.create_log(file, "results-tsv", kind="results", variables=source.variables) as results,
    ):
        results.write((S, S))
        for batch in source.batches():
            results.write_batch(batch)
        results.write((None, S))
        for other, reason in (
            (ResultBatch.from_rows([], ["b", "a"]), "variables b, a, but .* variables a, b"),
            (ResultBatch.from_rows([], []), "the batch has no variables"),
            (ResultBatch.from_rows([], [], boolean=True), "the answer true"),
        ):
            with pytest.raises(ValueError, match=reason):
                results.write_batch(other)
        with pytest.raises(TypeError, match="requires a ResultBatch, not list"):
            results.write_batch([])
        message = rdfm.MessageBatch.from_messages([])
        with pytest.raises(TypeError, match="not MessageBatch"):
            results.write_batch(message)
    with rdfm.open_log(file.getvalue(), "results-tsv", kind="results") as results:
        assert list(results) == [(S, S), *ROWS, (None, S)]


def test_rows_may_fill_several_batches(tmp_path):
    rows = [(Literal(str(number)), None) for number in range(10_000)]
    with rdfm.open_log(
        written(rows, ["a", "b"], "results-thrift"), "results-thrift", kind="results"
    ) as found:
        assert list(found) == rows


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz", ".zst"])
def test_the_suffix_selects_the_compression(suffix, tmp_path):
    path = tmp_path / f"r.srj{suffix}"
    with rdfm.create_log(path, kind="results", variables=["a"]) as results:
        results.write([S])
    with rdfm.open_log(path, kind="results") as results:
        assert list(results) == [(S,)]


def test_results_can_be_compressed_on_request(tmp_path):
    path = tmp_path / "r.tsv"
    with rdfm.create_log(
        path, kind="results", variables=["a", "b"], compression="bzip2"
    ) as results:
        for row in ROWS:
            results.write(row)
    assert bz2.decompress(path.read_bytes()) == TSV


def test_an_exception_leaves_no_files(tmp_path):
    path = tmp_path / "r.tsv"
    with pytest.raises(KeyError), rdfm.create_log(path, kind="results", variables=["a"]) as results:
        results.write([S])
        raise KeyError
    assert list(tmp_path.iterdir()) == []
    results = rdfm.create_log(path, kind="results", variables=["a"])
    results.discard()
    results.close()  # has no effect
    assert list(tmp_path.iterdir()) == []


def test_partial_output_is_kept_on_request(tmp_path):
    path = tmp_path / "r.tsv"
    with (
        pytest.raises(KeyError),
        rdfm.create_log(path, kind="results", variables=["a"], keep_partial=True) as results,
    ):
        results.write([S])
        raise KeyError
    (partial,) = tmp_path.iterdir()
    assert (partial.name, partial.read_bytes()) == ("r.tsv.partial", b"?a\n<http://e/s>\n")


def test_a_row_that_cannot_be_written_ends_the_results(tmp_path):
    path = tmp_path / "r.srx"
    results = rdfm.create_log(path, kind="results", variables=["a"])
    results.write([S])
    results.write([Literal("\x01")])
    with pytest.raises(EncodeError, match="results-xml") as caught:
        results.close()
    assert caught.value.message_index == 1
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ValueError, match="closed"):
        results.write([S])
    results.close()


def test_closed_results_reject_rows(tmp_path):
    path = tmp_path / "r.srj"
    results = rdfm.create_log(path, kind="results", variables=["a"])
    results.close()
    results.close()
    for write in (
        lambda: results.write([S]),
        lambda: results.write_batch(ResultBatch.from_rows([], ["a"])),
    ):
        with pytest.raises(ValueError, match="closed"):
            write()
    with rdfm.open_log(path, kind="results") as found:
        assert list(found) == []


def test_a_boolean_answer_is_read():
    with rdfm.open_log(ASK_RESULT, "results-json", kind="results") as results:
        (batch,) = results.batches()
    assert (batch.boolean, batch.variables, batch.links, len(batch)) == (False, (), ("more",), 0)


def test_a_batch_has_rows_and_variables():
    batch = ResultBatch.from_rows(ROWS, ["a", "b"], links=["more"], first_message_index=5)
    assert repr(batch) == "<ResultBatch: 4 rows of 2 variables>"
    assert repr(ResultBatch.from_rows([[S]], ["a"])) == "<ResultBatch: 1 row of 1 variable>"
    assert "links=()" in ResultBatch.from_rows.__text_signature__
    assert (batch.kind, len(batch), batch.record_count) == ("results", 4, 4)
    assert (batch.variables, batch.boolean, batch.links) == (("a", "b"), None, ("more",))
    assert (batch.first_message_index, batch.continued, batch.continues) == (5, False, False)
    assert list(batch) == batch.rows() == ROWS
    assert batch.memory_bytes > 0
    part = batch.slice(1, 3)
    assert (part.first_message_index, part.rows(), part.variables) == (6, ROWS[1:3], ("a", "b"))
    assert part.slice(1, 0).rows() == batch.slice(3, 2).rows() == []
    assert part.slice(0, 0).links == ("more",)


def test_rows_have_positions():
    with rdfm.open_log(TSV, "results-tsv", kind="results") as results:
        (batch,) = results.batches()
    positions = [6, 20, 22, 33]
    assert [TSV[start - 1 :].startswith(b"\n") for start in positions] == [True] * 4
    assert [batch.byte_offset(row) for row in range(4)] == positions
    assert batch.byte_offset(-1) == batch.byte_offset(3)
    with pytest.raises(IndexError):
        batch.byte_offset(4)


def test_terms_are_shared_by_the_rows_of_a_batch():
    batch = ResultBatch.from_rows([[S, S], [Iri("http://e/s"), None]], ["a", "b"])
    (first, second), (third, _) = batch
    assert first is second is third


@pytest.mark.parametrize(
    ("rows", "variables", "error"),
    [
        ([[S]], [], ValueError),
        ([[]], ["a"], ValueError),
        ([[S, S], [S]], ["a", "b"], ValueError),
        ([["x"]], ["a"], TypeError),
        ([S], ["a"], TypeError),
        (None, ["a"], TypeError),
        ([], "a", TypeError),
        ([], [1], TypeError),
    ],
)
def test_invalid_rows_are_rejected(rows, variables, error):
    with pytest.raises(error):
        ResultBatch.from_rows(rows, variables)


def test_jelly_sparql_is_recognized_by_its_content():
    data = written(ROWS, ["a", "b"], "results-jelly", stream_name="rows")
    with rdfm.open_log(data, kind="results") as results:
        assert list(results) == ROWS
        assert results.format == "results-jelly"
