"""Conversion of random logs through each ordered pair of formats."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from logs import logs, logs_for
from nquads import labels
from support import NATIVE, TABLES, as_batch, assert_same, decode, decoded, encode, ordered

import rdfm
from rdfm import formats

WRITE_OPTIONS = {"jelly": {"generalized": True, "rdf_star": True}}
READ_OPTIONS = {"nt": {"generalized": True}, "nq": {"generalized": True}}
FORMATS = (*NATIVE, *TABLES)
PAIRS = [(a, b) for a in FORMATS for b in FORMATS]
# Each format is in many pairs, so a pair needs fewer examples than other tests.
FEWER_EXAMPLES = settings(max_examples=max(settings.default.max_examples // 3, 2))


def written(name, messages, **options):
    return encode(name, messages, **{**WRITE_OPTIONS.get(name, {}), **options})


def read(name, data):
    return decoded(name, data, **READ_OPTIONS.get(name, {}))


@pytest.mark.parametrize(("first", "second"), PAIRS)
@FEWER_EXAMPLES
@given(data=st.data())
def test_each_pair_of_formats_keeps_what_both_support(first, second, data):
    log = data.draw(logs_for(first, second))
    converted = read(first, written(first, log))
    assert_same(converted, log, order=ordered(first))
    assert_same(read(second, written(second, converted)), log, order=ordered(first, second))


@pytest.mark.parametrize("via", FORMATS)
@given(data=st.data())
def test_an_intermediate_format_changes_nothing(via, data):
    log = data.draw(logs_for("nq", via))
    source = written("nq", log)
    direct = written("nq", read("nq", source))
    indirect = written("nq", read("nq", written("nq", read(via, written(via, log)))))
    if ordered(via) and not any(list(labels(message)) for message in log):
        assert indirect == direct
    assert_same(read("nq", indirect), read("nq", direct), order=ordered(via))


@pytest.mark.parametrize("name", FORMATS)
@given(log=logs(generalized=True))
def test_errors_about_unsupported_data_name_the_format(name, log):
    carries = formats.find(name).spec.carries
    try:
        data = written(name, log)
    except rdfm.EncodeError as error:
        has_several_messages = len(log) > 1 and not carries["boundaries"]
        assert has_several_messages or not (carries["graphs"] and carries["generalized"])
        assert str(error).startswith(f"{name}: ")
    else:
        # Without boundaries, a log is one message even if it is empty.
        found = read(name, data)
        if not carries["boundaries"] and not log:
            found = found or [[]]
            log = [[]]
        assert_same(found, log, order=ordered(name))


@pytest.mark.parametrize("dialect", ["comment", "directive"])
@pytest.mark.parametrize("name", ["nt", "nq", "ttl", "trig"])
@given(data=st.data())
def test_both_dialects_keep_empty_messages(name, dialect, data):
    log = data.draw(logs_for(name))
    assert_same(read(name, written(name, log, dialect=dialect)), log)


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=15)
@given(data=st.data())
def test_piece_sizes_do_not_change_the_messages(name, data):
    log = data.draw(logs_for(name))
    found, error = decode(name, written(name, log), **READ_OPTIONS.get(name, {}))
    assert error is None
    assert_same(found, log, order=ordered(name))


@pytest.mark.parametrize("physical", ["triples", "quads", "graphs"])
@pytest.mark.parametrize("tables", [(8, 0, 1), (8, 1, 1), (9, 2, 2), (4000, 150, 32)])
@given(data=st.data())
def test_jelly_tables_of_any_size_keep_the_messages(physical, tables, data):
    """A row never refers to the wrong entry, however small the tables are."""
    names, prefixes, datatypes = tables
    log = data.draw(logs(graphs=physical != "triples", generalized=True))
    options = {"name_table": names, "prefix_table": prefixes, "datatype_table": datatypes}
    try:
        data = written("jelly", log, physical_type=physical, **options)
    except rdfm.EncodeError as error:
        # A triple term may need more entries in one row than a table has.
        assert "table" in str(error)
        return
    assert_same(read("jelly", data), log)


@pytest.mark.parametrize("name", FORMATS)
@given(data=st.data())
def test_batch_sizes_do_not_change_the_output(name, data):
    log = data.draw(logs_for(name))
    options = WRITE_OPTIONS.get(name, {})
    single_encoder = formats.find(name).Encoder(**options)
    batch = as_batch(log)
    expected = single_encoder.encode(batch) + single_encoder.finish()
    slices = [batch.slice(at, at + 1) for at in range(len(batch))]
    # Ids differ between batches, so an encoder must not reuse what it stored for another batch.
    separate = [as_batch([message], at) for at, message in enumerate(log)]
    for batches in (slices, separate):
        encoder = formats.find(name).Encoder(**options)
        assert b"".join([*map(encoder.encode, batches), encoder.finish()]) == expected


@pytest.mark.parametrize(
    "name", [name for name in FORMATS if formats.find(name).spec.carries["boundaries"]]
)
def test_ids_of_one_batch_do_not_apply_to_the_next(name):
    """In the second batch, another predicate has the id that rdf:type has in the first batch."""
    iris = [("iri", f"http://e/{local}") for local in "sptoq"]
    s, p, *objects = iris
    kind = ("iri", "http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
    log = [[(s, kind, objects[0], None)], [(s, p, each, None) for each in objects]]
    encoder = formats.find(name).Encoder(**WRITE_OPTIONS.get(name, {}))
    batches = [as_batch([message], at) for at, message in enumerate(log)]
    data = b"".join([*map(encoder.encode, batches), encoder.finish()])
    assert_same(read(name, data), log)
