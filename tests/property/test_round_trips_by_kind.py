"""Converting random patches and results through every pair of formats preserves them."""

import io

import patches
import pytest
import results
from hypothesis import given
from hypothesis import strategies as st

import rdfm
from rdfm import formats


def of_kind(kind):
    return [name for name in formats.names() if formats.find(name).spec.kinds == (kind,)]


PATCH_FORMATS = of_kind("patches")
RESULT_FORMATS = of_kind("results")
LOSSLESS_FORMATS = [name for name in RESULT_FORMATS if name != "results-csv"]
WRITE_OPTIONS = {"jelly-patch": {"generalized": True, "rdf_star": True, "statement_type": "quads"}}


def pairs(names):
    return [(first, second) for first in names for second in names]


def test_every_kind_has_the_expected_number_of_formats():
    assert (len(PATCH_FORMATS), len(RESULT_FORMATS)) == (3, 7)


def draw_results(data, *names):
    """Draws results that all given formats can contain."""
    carries = [formats.find(name).spec.carries for name in names]
    return data.draw(
        results.results(
            any_text=all(each["any_text"] for each in carries),
            generalized=all(each["generalized"] for each in carries),
        )
    )


def converted(data, first, second, **options):
    file = io.BytesIO()
    rdfm.convert(
        data, file, from_format=first, to=second, **WRITE_OPTIONS.get(second, {}), **options
    )
    return file.getvalue()


def written(name, log):
    return formats.find(name).encode(patches.as_batch(log), **WRITE_OPTIONS.get(name, {}))


def read(name, data):
    with rdfm.open_log(data, name, kind="patches") as log:
        return [[patches.from_operation(tuple(operation)) for operation in patch] for patch in log]


@pytest.mark.parametrize(("first", "second"), pairs(PATCH_FORMATS))
@given(data=st.data())
def test_each_pair_of_formats_keeps_patches(first, second, data):
    log = data.draw(patches.patches(graphs=True, plain=True))
    first_output = written(first, log)
    assert read(first, first_output) == log
    assert read(second, converted(first_output, first, second)) == log


@pytest.mark.parametrize("name", PATCH_FORMATS)
@given(log=patches.patches(graphs=True))
def test_errors_about_unsupported_patches_name_the_format(name, log):
    try:
        data = written(name, log)
    except rdfm.EncodeError as error:
        assert name != "jelly-patch"
        assert str(error).startswith(f"{name}: ")
        assert any(
            operation[0] == "H" and (at or operation[1] not in patches.PLAIN_KEYS)
            for patch in log
            for at, operation in enumerate(patch)
        )
    else:
        assert read(name, data) == log


@pytest.mark.parametrize(("first", "second"), pairs(LOSSLESS_FORMATS))
@given(data=st.data())
def test_each_pair_of_formats_keeps_results(first, second, data):
    found = draw_results(data, first, second)
    first_output = results.encoded(first, *found)
    assert results.decoded(first, first_output) == found
    assert results.decoded(second, converted(first_output, first, second)) == found


@pytest.mark.parametrize("first", LOSSLESS_FORMATS)
@given(data=st.data())
def test_csv_keeps_the_text_of_results(first, data):
    """The output does not depend on the input format, and converting it again changes nothing."""
    found = draw_results(data, first, "results-xml")
    first_output = results.encoded(first, *found)
    data = converted(first_output, first, "results-csv", lossy=True)
    assert data == results.encoded("results-csv", *found, lossy=True)
    variables, rows = results.decoded("results-csv", data)
    assert variables == found[0]
    for row, terms in zip(rows, found[1], strict=True):
        for cell, term in zip(row, terms, strict=True):
            assert (cell is None) == (term is None)
            if term is not None and term[0] in ("iri", "literal"):
                assert cell[1] == term[1]
    assert converted(data, "results-csv", "results-csv", lossy=True) == data


@pytest.mark.parametrize("name", LOSSLESS_FORMATS)
@given(data=st.data())
def test_batch_sizes_do_not_change_the_output_for_results(name, data):
    variables, rows = draw_results(data, name)
    expected = results.encoded(name, variables, rows)
    file = io.BytesIO()
    with rdfm.create_log(file, name, kind="results", variables=variables) as out:
        for row in rows:
            out.write_batch(
                rdfm.ResultBatch.from_rows([[results.as_term(cell) for cell in row]], variables)
            )
    assert file.getvalue() == expected


@pytest.mark.parametrize("name", PATCH_FORMATS)
@given(log=patches.patches(graphs=True, plain=True))
def test_batch_sizes_do_not_change_the_output_for_patches(name, log):
    options = WRITE_OPTIONS.get(name, {})
    single_encoder = formats.find(name).Encoder(**options)
    batch = patches.as_batch(log)
    expected = single_encoder.encode(batch) + single_encoder.finish()
    encoder = formats.find(name).Encoder(**options)
    slices = [batch.slice(at, at + 1) for at in range(len(batch))]
    assert b"".join([*map(encoder.encode, slices), encoder.finish()]) == expected
