"""`rdfm inspect --stats`, `--rdf` and `--html`."""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path

import pytest

import rdfm
from rdfm import __version__

LOG = (
    '<http://e/s> <http://e/p> "a"@en, "b" .\n# @message\n'
    "<http://e/s> a <http://e/T> .\n# @message\n# @message\n"
)


@pytest.fixture
def log():
    Path("log.ttl").write_text(f"@prefix ex: <http://e/> .\n{LOG}")
    return "log.ttl"


def test_statistics_are_printed_as_text(rdfm, log):
    run = rdfm("inspect", "--stats", log)
    assert (run.code, run.err) == (0, "")
    for line in (
        "  messages           3 (1 empty)",
        "  quads              3",
        "  quads/message      0 to 2, median 1, mean 1.00, deviation 0.82",
        "  types                       1  http://e/T",
        "  namespaces                  6  http://e/ (ex:)",
        "  languages                   1  en",
    ):
        assert line in run.out.splitlines()


def test_statistics_are_printed_as_json(rdfm, log):
    run = rdfm("inspect", "--stats", "--json", log, log)
    first, second = map(json.loads, run.out.splitlines())
    assert first == second
    assert first["series"]["statements"]["sum"] == 3
    assert first["quads_per_message"]["histogram"] == [[0, 0, 1], [1, 1, 1], [2, 3, 1]]


def test_the_json_output_equals_the_result_of_to_dict(rdfm, log):
    printed = json.loads(rdfm("inspect", "--stats", "--json", "--top", "20", log).out)
    assert printed == json.loads(json.dumps(as_dict(log)))


def as_dict(log):
    return rdfm.statistics(log).to_dict()


def test_top_limits_the_lists(rdfm, log):
    found = json.loads(rdfm("inspect", "--stats", "--json", "--top", "1", log).out)
    assert found["predicates"] == {"counts": {"http://e/p": 2}, "number": 2, "others": 0}


def test_rdf_and_html_imply_stats(rdfm, log):
    assert rdfm("inspect", "--rdf", log).out.startswith("PREFIX rb:")
    run = rdfm("inspect", "--html", "page.html", log)
    assert (run.code, run.out, run.err) == (0, "", "")
    page = Path("page.html").read_text("utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert rdfm("inspect", "--html", "-", log).out == page


def test_inspect_shows_no_statistics_by_default(rdfm, log):
    run = rdfm("inspect", log)
    assert "quads/message    0 to 2, 1.0 on average" in run.out
    assert "median" not in run.out


@pytest.mark.parametrize("arguments", [("--stats",), ("--rdf",), ("--html", "page.html")])
def test_an_invalid_log_exits_with_code_1(rdfm, arguments):
    Path("b.nq").write_text("<http://e/s> <http://e/p> <http://e/o> .\n# @message\noops\n")
    run = rdfm("inspect", *arguments, "b.nq")
    assert run.code == 1
    assert "line 3" in (run.out if arguments == ("--stats",) else run.error)


def test_statistics_of_patches_have_no_rdf(rdfm):
    Path("c.rdfp").write_text("A <http://e/s> <http://e/p> <http://e/o> .\n")
    run = rdfm("inspect", "--rdf", "c.rdfp")
    assert run.code == 2
    assert (
        "c.rdfp contains patches, but only statistics of messages can be written as RDF"
        in run.error
    )
    run = rdfm("inspect", "--stats", "c.rdfp")
    assert "  operations         1 A" in run.out.splitlines()


def test_statistics_of_results_list_variables(rdfm):
    Path("r.tsv").write_text("?a\t?b\n<urn:s>\t1\n<urn:s>\t\n")
    run = rdfm("inspect", "--stats", "r.tsv")
    assert "  ?a                 bound in 2 rows, 1 distinct" in run.out.splitlines()


def test_control_characters_are_escaped(rdfm):
    Path("e.nq").write_text("<http://e/s> <http://e/p\\u202E> <http://e/o> .\n", "utf-8")
    run = rdfm("inspect", "--stats", "e.nq")
    assert "\u202e" not in run.out
    assert "\\u202e" in run.out


def test_help_lists_the_outputs(rdfm):
    text = rdfm("inspect", "--help").out
    assert "Statistics" in text
    assert "--html FILE" in text


def test_a_page_replaces_only_pages_that_rdfm_wrote(rdfm):
    for name in ("page.html", "page", "page.html.gz", "-page.html"):
        for _ in range(2):
            run = rdfm("inspect", "--html", f"./{name}", "a.nq")
            assert (run.code, run.err) == (0, "")
    page = Path("page.html").read_text()
    assert f'<meta name="generator" content="rdfm {__version__}">' in page
    assert gzip.decompress(Path("page.html.gz").read_bytes()).decode() == page
    Path("empty.html").touch()
    assert rdfm("inspect", "--html", "empty.html", "a.nq").code == 0
    for name, data in (
        ("other.html", b"<!DOCTYPE html>\n<html><head><title>mine</title>"),
        ("notes.md", b'see <meta name="generator" content="rdfm 1">'),
        ("log", b"<http://e/s> <http://e/p> <http://e/o> .\n"),
        ("bytes", b"\x1f\x8b\x08\x00broken"),
        ("binary", b"\x28\xb5\x2f\xfd\xff\xff"),
    ):
        Path(name).write_bytes(data)
        run = rdfm("inspect", "--html", name, "a.nq")
        assert run.error == (
            f"{name} exists and is not a report written by rdfm; "
            "use another name, or remove the file first"
        )
        assert run.code == 2
        assert Path(name).read_bytes() == data


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("victim.jelly", "Jelly"),
        ("victim.nq.gz", "N-Quads"),
        ("victim.TRIG", "TriG"),
        ("victim.csv", "SPARQL results in CSV"),
        ("victim.rdfp", "RDF Patch"),
        ("victim.tar.gz", "another file type"),
        ("victim.json", "another file type"),
        ("victim.zip", "another file type"),
    ],
)
@pytest.mark.parametrize("exists", [True, False])
def test_a_page_must_not_have_the_suffix_of_another_file_type(rdfm, name, title, exists):
    if exists:
        Path(name).write_bytes(b"data")
    run = rdfm("inspect", "--html", name, "a.nq")
    assert run.code == 2
    assert run.error == (
        f"{name} has the suffix of {title}, but the page is HTML; use the suffix .html"
    )
    assert Path(name).exists() == exists
    assert not exists or Path(name).read_bytes() == b"data"


def test_the_output_can_be_a_link_a_device_or_a_file_url(rdfm):
    assert rdfm("inspect", "--html", "page.html", "a.nq").code == 0
    Path("link.html").symlink_to("page.html")
    content = Path("page.html").read_bytes()
    assert rdfm("inspect", "--html", "link.html", "b.nq").code == 0
    assert Path("link.html").is_symlink()
    assert Path("page.html").read_bytes() != content
    assert rdfm("inspect", "--html", "/dev/null", "a.nq").code == 0
    assert rdfm("inspect", "--html", "no/page.html", "a.nq").error == "no: No such folder"
    Path("d").mkdir()
    assert rdfm("inspect", "--html", "d", "a.nq").error == "d: Is a folder"
    run = rdfm("inspect", "--html", "s3://b/page.html", "a.nq")
    assert run.error.startswith("s3://b/page.html is a URL, which rdfm cannot write to")
    url = (Path.cwd() / "url.html").as_uri()
    assert rdfm("inspect", "--html", url, "a.nq").code == 0
    assert Path("url.html").exists()


def test_rdf_names_the_dataset_and_its_file(rdfm, log):
    turtle = rdfm("inspect", "--rdf", "--iri", "http://example.org/log", log).out
    assert "\n<http://example.org/log> a void:Dataset ;" in turtle
    assert "dcat:byteSize" in turtle
    assert hashlib.sha256(Path(log).read_bytes()).hexdigest() in turtle
    Path("many.nq").write_text("".join(f"<urn:s> <urn:p{n}> <urn:o> .\n" for n in range(30)))
    assert rdfm("inspect", "--rdf", "many.nq").out.count("void:propertyPartition") == 30
    assert rdfm("inspect", "--rdf", "--top", "5", "many.nq").out.count("void:property ") == 5
    run = rdfm("inspect", "--rdf", "--iri", "relative", log)
    assert (run.code, "expected an absolute IRI" in run.error) == (2, True)
    assert rdfm("inspect", "--iri", "http://example.org/log", log).code == 2


def test_truncated_lists_show_the_rest_as_a_count(rdfm):
    Path("many.nq").write_text("".join(f"<urn:s> <urn:p{n}> <urn:o> .\n" for n in range(30)))
    lines = rdfm("inspect", "many.nq").out.splitlines()
    assert sum("urn:p" in line for line in lines) == 10
    assert lines[-1].split() == ["and", "20", "more"]
    assert rdfm("inspect", "--top", "0", "many.nq").out.splitlines()[-1].split() == [
        "predicates",
        *("and", "30", "more"),
    ]
