"""Nanopublication lists: columns, types, superseded and retracted entries, tables."""

import nanopubs
import pyarrow as pa
import pytest
from nanopubs import BASE, DCTERMS, NPX, PROV, RDF_TYPE, iri, literal, triple

import rdfm
from rdfm import nanopub
from rdfm.errors import DecodeError, OptionError
from rdfm.nanopub.listing import COLUMNS, NanopubList, NanopubLog

N = BASE + "1"
DC = "http://purl.org/dc/elements/1.1/"
PAV = "http://purl.org/pav/"


def rows(*messages, **options):
    with nanopub.list(nanopubs.nq(*messages), format="nq", **options) as found:
        return list(found.rows())


def row(**parts):
    (found,) = rows(nanopubs.nanopub(N, **parts))
    return found


def test_a_row_has_a_value_for_each_column():
    found = row(
        assertion=[triple("http://e/s", "http://e/p", "http://e/o")],
        info=[
            triple(N, DCTERMS + "creator", "https://orcid.org/1"),
            triple(N, DCTERMS + "license", "https://l/1"),
            triple(N, NPX + "introduces", N + "/x"),
            triple(N, NPX + "supersedes", "http://e/old"),
        ],
    )
    assert found == (
        "bytes",
        0,
        N,
        ["https://orcid.org/1"],
        "2026-11-01",
        "https://l/1",
        ["http://e/p"],
        [N + "/x"],
        [],
        ["http://e/old"],
        None,
    )
    assert found._fields == COLUMNS


@pytest.mark.parametrize(
    "name",
    [DCTERMS + "creator", DC + "creator", PAV + "createdBy", PROV + "wasAttributedTo"],
)
def test_creators_are_listed(name):
    assert row(info=[triple(N, name, "http://e/me")]).creators == ["http://e/me"]
    assert row(info=[triple(N, name, literal("Ann"))]).creators == ["Ann"]
    assert row(info=[triple("http://e/other", name, "http://e/me")]).creators == []
    assert row(provenance=[triple(N, name, "http://e/me")]).creators == []


def test_creators_are_in_quad_order_without_repetition():
    creators = [triple(N, DCTERMS + "creator", f"http://e/{name}") for name in "bab"]
    assert row(info=creators).creators == ["http://e/b", "http://e/a"]


@pytest.mark.parametrize("name", [DCTERMS + "created", PROV + "generatedAtTime", PAV + "createdOn"])
def test_creation_times_are_listed(name):
    quads = [quad for quad in nanopubs.nanopub(N) if quad[1] != iri(DCTERMS + "created")]
    quads.append((*triple(N, name, literal("2026-11-24T10:00:00Z")), iri(N + "/info")))
    assert rows(quads)[0].created == "2026-11-24T10:00:00Z"


def test_a_license_takes_precedence_over_rights():
    license = triple(N, "http://creativecommons.org/ns#license", "http://l/1")
    rights = triple(N, DCTERMS + "rights", "http://l/2")
    assert row(info=[rights, license]).license == "http://l/1"
    assert row(info=[rights]).license == "http://l/2"
    assert row(info=[triple(N, DC + "rights", literal("mine"))]).license == "mine"


SAMPLE = [
    triple("http://e/a", "http://e/p", "http://e/o"),
    triple("http://e/b", "http://e/q", "http://e/o"),
]
TYPES = {
    "type of the nanopublication": {"info": [triple(N, RDF_TYPE, "http://t/1")]},
    "nanopub type": {"info": [triple(N, NPX + "hasNanopubType", "http://t/1")]},
    "type of the assertion in the provenance": {
        "provenance": [triple(N + "/assertion", RDF_TYPE, "http://t/1")]
    },
    "type of the assertion": {
        "assertion": [*SAMPLE, triple(N + "/assertion", RDF_TYPE, "http://t/1")]
    },
    **{
        f"type of the resource that it {name}": {
            "assertion": [*SAMPLE, triple("http://e/a", RDF_TYPE, "http://t/1")],
            "info": [triple(N, NPX + name, "http://e/a")],
        }
        for name in ("introduces", "describes", "embeds")
    },
    "all types of the only subject": {
        "assertion": [
            triple("http://e/a", "http://e/p", "http://e/o"),
            triple("http://e/a", RDF_TYPE, "http://t/1"),
        ]
    },
    "the only predicate": {
        "assertion": [
            triple("http://e/a", "http://t/1", "http://e/o"),
            triple("http://e/b", "http://t/1", "http://e/o"),
        ]
    },
}


@pytest.mark.parametrize("name", TYPES)
def test_types_are_listed(name):
    assert row(**{"assertion": SAMPLE, **TYPES[name]}).types == ["http://t/1"]


def test_the_predicate_of_key_declarations_is_a_type():
    declaration = triple("http://e/a", NPX + "declaredBy", "http://e/me")
    assert row(assertion=[*SAMPLE, declaration]).types == [NPX + "declaredBy"]


def test_types_of_other_subjects_are_ignored():
    assert row(assertion=[*SAMPLE, triple("http://e/a", RDF_TYPE, "http://t/1")]).types == []


def test_retractions_may_have_any_subject():
    retraction = [triple("http://e/me", NPX + "retracts", "http://e/old")]
    assert row(assertion=retraction).retracts == ["http://e/old"]
    supersession = [triple("http://e/x", NPX + "supersedes", "http://e/old")]
    assert row(info=supersession).supersedes == []


def test_messages_that_are_not_nanopublications_are_omitted():
    message = [(*triple("http://e/s", "http://e/p", "http://e/o"), None)]
    with nanopub.list(nanopubs.nq(message, nanopubs.nanopub(N), message), format="nq") as found:
        assert [(each.message_index, each.nanopub) for each in found] == [(1, N)]
        assert found.others == 2


def test_each_nanopublication_in_a_message_has_a_row():
    quads = [*nanopubs.nanopub(N), *nanopubs.nanopub(BASE + "2")]
    assert [(each.message_index, each.nanopub) for each in rows(quads)] == [(0, N), (0, BASE + "2")]


# --- only the latest nanopublications ---


def keyed(name, key="k1", **links):
    """Returns a nanopublication with a key. It may supersede or retract others."""
    base = BASE + name
    info = [
        triple(base + "/sig", NPX + "hasSignatureTarget", base),
        *([] if key is None else [triple(base + "/sig", NPX + "hasPublicKey", literal(key))]),
        *(triple(base, NPX + "supersedes", BASE + old) for old in links.get("supersedes", ())),
    ]
    retracts = [
        triple("http://e/me", NPX + "retracts", BASE + old) for old in links.get("retracts", ())
    ]
    return nanopubs.nanopub(base, assertion=retracts, info=info)


def latest(*messages):
    return [each.nanopub.removeprefix(BASE) for each in rows(*messages, latest=True)]


LATEST = {
    "superseded": ([keyed("a"), keyed("b", supersedes=["a"])], ["b"]),
    "retracted": ([keyed("a"), keyed("b", retracts=["a"])], ["b"]),
    "superseded by an earlier message": ([keyed("b", supersedes=["a"]), keyed("a")], ["b"]),
    "a chain of supersessions": (
        [keyed("a"), keyed("b", supersedes=["a"]), keyed("c", supersedes=["b"])],
        ["c"],
    ),
    "two at once": ([keyed("a"), keyed("b"), keyed("c", supersedes=["a"], retracts=["b"])], ["c"]),
    "superseded with another key": ([keyed("a"), keyed("b", "k2", supersedes=["a"])], ["a", "b"]),
    "retracted with another key": ([keyed("a"), keyed("b", "k2", retracts=["a"])], ["a", "b"]),
    "superseded with no key": ([keyed("a", None), keyed("b", None, supersedes=["a"])], ["a", "b"]),
    "an unknown target": ([keyed("a", supersedes=["x"])], ["a"]),
    "a nanopublication that supersedes itself": ([keyed("a", supersedes=["a"])], ["a"]),
    "two superseded copies": ([keyed("a"), keyed("a"), keyed("b", supersedes=["a"])], ["b"]),
    "retracted with one of two keys": (
        [keyed("a"), keyed("a", "k2"), keyed("b", "k2", retracts=["a"])],
        ["a", "b"],
    ),
    "a long name without an artifact code": (
        [
            keyed("v1/observations-of-birds-in-2026"),
            keyed(
                "v2/observations-of-birds-in-2026", supersedes=["v1/observations-of-birds-in-2026"]
            ),
        ],
        ["v2/observations-of-birds-in-2026"],
    ),
    "an empty log": ([], []),
}


@pytest.mark.parametrize("name", LATEST)
def test_superseded_and_retracted_nanopublications_are_omitted(name):
    messages, expected = LATEST[name]
    assert latest(*messages) == expected


def test_targets_are_identified_by_their_artifact_code():
    code = nanopubs.own_code(nanopubs.trusty())
    old = nanopubs.with_code(keyed(nanopubs.PLACEHOLDER), code)
    new = keyed("b", supersedes=[])
    new.append(
        (
            *triple(BASE + "b", NPX + "supersedes", f"https://w3id.org/np/{code}"),
            iri(BASE + "b/info"),
        )
    )
    assert latest(old, new) == ["b"]


def test_keys_come_from_the_signature_element():
    quads = keyed("a")
    quads.append((*triple("http://e/x", NPX + "hasPublicKey", literal("k2")), iri(BASE + "a/info")))
    assert rows(quads)[0].pubkey_hash == rows(keyed("c"))[0].pubkey_hash


def test_key_hashes_are_sha_256_as_in_registries():
    import hashlib

    assert rows(keyed("a", "MIGfMA0"))[0].pubkey_hash == hashlib.sha256(b"MIGfMA0").hexdigest()


# --- tables ---


def test_tables_have_lists_of_values():
    with nanopub.list(nanopubs.nq(keyed("b", retracts=["a", "c"])), format="nq") as found:
        table = found.to_arrow()
    assert table.column_names == list(COLUMNS)
    assert table.schema.field("types").type == pa.list_(pa.string())
    assert table["retracts"].to_pylist() == [[BASE + "a", BASE + "c"]]
    assert table["message_index"].type == pa.int64()


def test_an_empty_log_gives_an_empty_table():
    with nanopub.list(b"", format="nq") as found:
        assert found.to_arrow().num_rows == 0


def test_other_libraries_accept_the_rows():
    import polars

    with nanopub.list(nanopubs.nq(keyed("a")), format="nq") as found:
        assert polars.DataFrame(found)["nanopub"].to_list() == [BASE + "a"]
    with nanopub.list(nanopubs.nq(keyed("a")), format="nq") as found:
        assert found.to_pandas()["nanopub"].to_list() == [BASE + "a"]


def test_an_open_log_can_be_listed():
    data = nanopubs.nq(keyed("a"), keyed("b"), keyed("c"))
    with rdfm.open_log(data, "nq") as log, nanopub.list(log) as found:
        assert [each.nanopub for each in found] == [BASE + "a", BASE + "b", BASE + "c"]
    with (
        rdfm.open_log(data, "nq") as log,
        pytest.raises(OptionError, match=r"pass format to rdfm\.open_log"),
    ):
        nanopub.list(log, format="nq")


def test_rows_can_be_read_once():
    with nanopub.list(nanopubs.nq(keyed("a")), format="nq") as found:
        assert repr(found) == "<NanopubList of bytes>"
        assert len(list(found)) == 1
        with pytest.raises(ValueError, match="already been read; list the log again"):
            list(found)
        with pytest.raises(ValueError, match="already been read"):
            found.to_arrow()


def test_rows_before_an_error_are_returned():
    found: NanopubList = nanopub.list(nanopubs.nq(keyed("a")) + b"# @message\noops\n", format="nq")
    with found:
        reading = iter(found)
        assert next(reading).nanopub == BASE + "a"
        with pytest.raises(DecodeError):
            next(reading)


def test_invalid_messages_are_skipped_on_request():
    data = nanopubs.nq(keyed("a")) + b"# @message\noops\n# @message\n" + nanopubs.nq(keyed("b"))
    with nanopub.list(data, format="nq", on_error="skip") as found:
        assert [each.nanopub for each in found] == [BASE + "a", BASE + "b"]
        assert found.skipped == 1


@pytest.mark.parametrize(
    ("logs", "options", "text"),
    [
        ([], {}, "there is nothing to list; name a log"),
        (
            b"TX .\nTC .\n",
            {"format": "rdf-patch"},
            "contains patches, but nanopublications are messages",
        ),
        (b"", {"format": "nq", "frames": "frame"}, "frames"),
        (b"", {"format": "nq", "on_error": "ignore"}, "on_error"),
    ],
)
def test_invalid_arguments_are_rejected(logs, options, text):
    with pytest.raises(OptionError, match=text), nanopub.list(logs, **options) as found:
        list(found)


@pytest.mark.parametrize("latest", [False, True])
@pytest.mark.parametrize("suffix", ["parquet", "arrow", "csv", "srj"])
def test_rows_are_written(tmp_path, suffix, latest):
    data = nanopubs.nq(keyed("a"), keyed("b", supersedes=["a"], retracts=["c", "d"]))
    (tmp_path / "log.nq").write_bytes(data)
    out = tmp_path / f"out.{suffix}"
    summary, others = NanopubLog([tmp_path / "log.nq"], {"latest": latest}).write(out)
    count = 1 if latest else 2
    assert (summary.messages, others) == (count, 0)
    if suffix in ("csv", "srj"):
        with rdfm.open_log(out, kind="results") as results:
            assert results.variables == COLUMNS
            cells = [dict(zip(COLUMNS, each, strict=True)) for each in results]
        assert len(cells) == count
        assert cells[-1]["retracts"].value == f"{BASE}c | {BASE}d"
        return
    import pyarrow.dataset

    table = pyarrow.dataset.dataset(out, format="ipc" if suffix == "arrow" else suffix).to_table()
    assert table["retracts"].to_pylist()[-1] == [BASE + "c", BASE + "d"]
    assert table.num_rows == count


def test_rows_cannot_be_written_as_a_log(tmp_path):
    with pytest.raises(OptionError, match="a list has rows, but Jelly supports only messages"):
        NanopubLog([b""], {"from_format": "nq"}).write(tmp_path / "out.jelly")
