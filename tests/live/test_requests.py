"""Response options, for each row of the table in the specification."""

import pytest

from rdfm import formats
from rdfm.live.requests import LogOptions, RequestError, respond
from rdfm.storage.jelly_wire import StreamOptions

# A log that uses all features, and a request that allows them all.
LOG = StreamOptions("log", 2, True, True, 4000, 150, 32, 4, 2)
ALL = StreamOptions("", 2, True, True, 4096, 1024, 256, 0, 2)


def respond_to(requested, log=LOG):
    return respond(requested, LogOptions(log, stored=True))


def test_stored_frames_are_sent_unless_options_restrict_them():
    assert respond_to(None).stored
    assert respond_to(ALL).stored


def test_frames_that_cannot_be_sent_unchanged_are_reencoded():
    assert not respond(None, LogOptions(LOG, stored=False)).stored


@pytest.mark.parametrize(
    ("changed", "option", "value"),
    [
        ({"physical_type": 1}, "physical_type", "triples"),
        ({"physical_type": 3}, "physical_type", "graphs"),
        ({"generalized": False}, "generalized", False),
        ({"rdf_star": False}, "rdf_star", False),
        ({"name_table": 8}, "name_table", 8),
        ({"prefix_table": 0}, "prefix_table", 0),
        ({"datatype_table": 0}, "datatype_table", 0),
        ({"version": 1}, "jelly_version", 1),
    ],
)
def test_response_options_do_not_exceed_the_requested_options(changed, option, value):
    response = respond_to(ALL._replace(**changed))
    assert not response.stored
    assert response.encoder[option] == value
    default = respond_to(ALL).encoder
    related = {option, "logical_type", "namespaces" if option == "jelly_version" else option}
    for name, expected in default.items():
        if name not in related:
            assert response.encoder[name] == expected, name


@pytest.mark.parametrize("option", ["generalized", "rdf_star"])
def test_a_stream_declares_only_features_of_its_log(option):
    response = respond_to(ALL, LOG._replace(**{option: False}))
    assert response.stored
    assert response.encoder[option] is False


def test_unspecified_physical_type_and_version_mean_any():
    response = respond_to(ALL._replace(physical_type=0, version=0))
    assert response.stored
    assert response.encoder["physical_type"] == "quads"
    assert response.encoder["jelly_version"] == 2


def test_a_requested_stream_name_is_used():
    response = respond_to(ALL._replace(stream_name="mine", name_table=100))
    assert response.encoder["stream_name"] == "mine"
    assert respond_to(ALL._replace(stream_name="mine")).stored


def test_requested_table_sizes_are_reduced_to_the_limits():
    request = ALL._replace(name_table=1 << 31, prefix_table=1 << 20, datatype_table=9999)
    encoder = respond_to(request, LOG._replace(name_table=10_000)).encoder
    assert [encoder[f"{name}_table"] for name in ("name", "prefix", "datatype")] == [
        4096,
        1024,
        256,
    ]
    assert not respond_to(request, LOG._replace(name_table=10_000)).stored


@pytest.mark.parametrize(
    ("physical", "requested", "stored", "answer"),
    [
        (1, 3, 4, 3),
        (1, 13, 4, 3),
        (1, 13, 13, 13),
        (2, 4, 0, 4),
        (2, 114, 4, 4),
        (2, 114, 114, 114),
        (3, 14, 14, 14),
        (2, 2, 4, 0),
        (1, 1, 0, 0),
        (1, 0, 4, 0),
        (2, 0, 4, 4),
        (1, 1, 2, 1),
        (2, 4, 2, 2),
    ],
)
def test_the_requested_logical_type_is_used_if_the_log_has_that_type(
    physical, requested, stored, answer
):
    log = LOG._replace(logical_type=stored)
    requested_options = ALL._replace(physical_type=physical, logical_type=requested, name_table=100)
    assert respond_to(requested_options, log).encoder["logical_type"] == answer


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"name_table": 7}, "max_name_table_size is 7"),
        ({"name_table": 0}, "max_name_table_size is 0"),
        ({"version": 4}, "version 4 is unknown"),
        ({"version": 10_000}, "version 10000 is unknown"),
        ({"physical_type": 4}, "physical type 4 is unknown"),
        ({"logical_type": 5}, "logical type 5 is unknown"),
        ({"physical_type": 1, "logical_type": 4}, "not possible with physical type TRIPLES"),
        ({"physical_type": 2, "logical_type": 1}, "not possible with physical type QUADS"),
    ],
)
def test_impossible_requests_are_rejected(changed, reason):
    with pytest.raises(RequestError, match=reason):
        respond_to(ALL._replace(**changed))


@pytest.mark.parametrize("physical", [1, 2, 3])
@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("stored", [0, 2, 4, 114])
def test_the_encoder_accepts_every_response(physical, version, stored):
    requested_options = StreamOptions("n", physical, False, False, 8, 0, 0, 0, version)
    response = respond_to(requested_options, LOG._replace(logical_type=stored))
    formats.find("jelly").encoder(response.encoder)
