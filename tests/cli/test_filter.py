"""rdfm filter: writes the messages that match, and no others."""

from pathlib import Path

import pytest

import rdfm as library

LOG = """PREFIX ex: <http://e/>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
ex:s1 ex:species ex:crane ; ex:at "2026-06-01T10:00:00Z"^^xsd:dateTime ; ex:note "one Crane"@en .
# @message
ex:s2 ex:species ex:wren ; ex:at "2026-06-02T10:00:00+02:00"^^xsd:dateTime ; ex:count 5 .
# @message
GRAPH ex:g { ex:s3 ex:species ex:crane ; ex:at "2026-06-03"^^xsd:date ; ex:count 5.0 . }
# @message
ex:s4 ex:species "crane" .
"""


@pytest.fixture
def log(rdfm):
    Path("log.trig").write_text(LOG)
    library.convert("log.trig", "log.jelly")
    library.convert("log.trig", "log.nq")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--object", "ex:crane"], [0, 2]),
        (["--object", "<http://e/crane>"], [0, 2]),
        (["--object", '"crane"'], [3]),
        (["--object", "x:crane", "--prefix", "x=http://e/"], [0, 2]),
        (["--object", "ex:crane", "--graph", "ex:g"], [2]),
        (["--object", "ex:crane", "--graph", "default"], [0]),
        (["--any", "ex:g"], [2]),
        (["--any", "ex:crane", "--any", "ex:g"], [2]),
        (["--any", "ex:crane", "--any", "ex:note"], []),
        (["--subject", "ex:s2"], [1]),
        (["--predicate", "ex:count"], [1, 2]),
        (["--object", "5"], [1]),
        (["--object", "5.0"], [2]),
        (["--object", '"one Crane"@en'], [0]),
        (["--contains", "rane"], [0, 3]),
        (["--regex", "(?i)^.*crane$"], [0, 3]),
        (["--contains", "rane", "--predicate", "ex:note"], [0]),
        (["--time", "ex:at", "--after", "2026-06-02"], [1, 2]),
        (["--time", "ex:at", "--before", "2026-06-02T08:00:00Z"], [0]),
        (["--time", "ex:at", "--before", "2026-06-02T08:00:01Z"], [0, 1]),
        (["--time", "ex:at", "--after", "2026-06-01", "--object", "ex:crane"], [0, 2]),
        (["--object", "ex:crane", "--invert"], [1, 3]),
        (["--object", "ex:none"], []),
        (["--where", "ASK { ?s <http://e/count> ?n FILTER (?n >= 5) }"], [1]),
        (["--where", "ASK { GRAPH ?g { ?s ex:count 5.0 } }", "--prefix", "ex=http://e/"], [2]),
        (["--where", "ASK { ?s <http://e/at> ?t }"], [0, 1]),
        (["--where", "ASK { ?s <http://e/at> ?t }", "--object", "ex:crane"], [0]),
        (["--where", "ASK { ?s <http://e/at> ?t }", "--object", "ex:crane", "--invert"], [1, 2, 3]),
        (["--where", "ASK { ?s <http://e/at> ?t }", "--invert"], [2, 3]),
    ],
)
@pytest.mark.parametrize("name", ["log.trig", "log.jelly"])
@pytest.mark.usefixtures("log")
def test_matching_messages_are_written(rdfm, name, arguments, expected):
    run = rdfm("filter", name, *arguments, "-o", "out.trig", "--quiet")
    assert (run.code, run.out, run.err) == (0, "", "")
    with library.open_log("log.trig") as reader:
        messages = [list(message.quads) for message in reader]
    with library.open_log("out.trig") as reader:
        assert [list(message.quads) for message in reader] == [messages[at] for at in expected]
    assert rdfm("filter", name, *arguments, "--count").out == f"{len(expected)}\n"


@pytest.mark.usefixtures("log")
def test_log_readers_filter_the_same_messages(rdfm):
    with library.open_log("log.jelly") as log:
        found = log.filter(time="ex:at", after="2026-06-02", predicate="ex:count")
        assert [message.message_index for message in found] == [1, 2]
    with library.open_log("log.jelly", messages="1:") as log:
        assert [message.message_index for message in log.filter(object="ex:crane")] == [2]
    with library.open_log("log.jelly") as log:
        next(iter(log))
        with pytest.raises(ValueError, match="has already been read"):
            log.filter(object="ex:crane")
    with (
        library.open_log("log.jelly") as log,
        pytest.raises(library.OptionError, match="there is no criterion 'subjekt'"),
    ):
        log.filter(subjekt="ex:a")


@pytest.mark.usefixtures("log")
def test_only_matching_quads_are_written_on_request(rdfm):
    run = rdfm("filter", "log.nq", "--predicate", "<http://e/species>", "--quads", "--to", "nq")
    assert run.out == (
        "<http://e/s1> <http://e/species> <http://e/crane> .\n# @message\n"
        "<http://e/s2> <http://e/species> <http://e/wren> .\n# @message\n"
        "<http://e/s3> <http://e/species> <http://e/crane> <http://e/g> .\n# @message\n"
        '<http://e/s4> <http://e/species> "crane" .\n'
    )
    run = rdfm(
        "filter", "log.nq", "--predicate", "<http://e/species>", "--quads", "--invert", "--count"
    )
    assert run.out == "3\n"


@pytest.mark.usefixtures("log")
def test_namespaces_are_written_with_the_first_message(rdfm):
    run = rdfm("filter", "log.jelly", "--object", "ex:wren", "-o", "out.jelly")
    assert run.code == 0
    with library.open_log("out.jelly") as log:
        (message,) = log
        assert dict(message.namespaces)["ex"] == "http://e/"


def test_prefixes_apply_to_the_message_that_declares_them(rdfm):
    Path("a.trig").write_text(
        "PREFIX ex: <http://one/>\nex:a ex:p 1 .\n# @message\n"
        "PREFIX ex: <http://two/>\nex:a ex:p 2 .\n# @message\n<http://one/a> ex:p 3 .\n"
    )
    assert rdfm("filter", "a.trig", "--subject", "ex:a", "--count").out == "2\n"
    assert (
        rdfm("filter", "a.trig", "--subject", "ex:a", "--prefix", "ex=http://one/", "--count").out
        == "2\n"
    )


@pytest.mark.usefixtures("log")
def test_several_logs_are_filtered_and_errors_are_skipped(rdfm):
    run = rdfm("filter", "log.jelly", "log.trig", "--object", "ex:wren", "--count")
    assert run.out == "2\n"
    assert rdfm("filter", "bad.nq", "--any", "<http://e/3>", "--count").code == 1
    run = rdfm("filter", "bad.nq", "--any", "<http://e/3>", "--count", "--on-error", "skip")
    assert run.out == "1\n"
    run = rdfm("filter", "bad.nq", "--any", "<http://e/3>", "--count", "--on-error", "skip")
    assert run.err.startswith("rdfm: skipped: bad.nq: nq: ")
    Path("p.rdfp").write_text("TX .\nTC .\n")
    assert (
        "p.rdfp contains patches, but only messages can be filtered"
        in rdfm("filter", "p.rdfp", "--any", "<a:b>", "-o", "out.rdfp").error
    )
    assert not Path("out.rdfp").exists()


TIMES = """PREFIX ex: <http://e/>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
PREFIX dct: <http://purl.org/dc/terms/>
ex:s1 dct:created "2026-06-01T10:00:00Z"^^xsd:dateTime ; ex:at "2026-07-01"^^xsd:date .
# @message
ex:log <https://w3id.org/ldes#timestampPath> ex:at .
ex:s2 ex:at "2026-06-02"^^xsd:date ; ex:count 1 .
# @message
ex:s3 <http://www.w3.org/ns/sosa/resultTime> "2026-06-03"^^xsd:date .
# @message
ex:s4 ex:other "2026-06-01"^^xsd:date .
"""


@pytest.mark.parametrize("size", [1, 10_000])
def test_time_properties_are_those_of_split_by_day(rdfm, size):
    found = {}
    for day in range(1, 5):
        criteria = {"after": f"2026-06-0{day}", "before": f"2026-06-0{day + 1}"}
        with library.open_log(TIMES.encode(), "trig", batch_messages=size).filter(
            **criteria
        ) as log:
            found[day] = [str(quad.subject) for message in log for quad in list(message)[-1:]]
    assert found == {1: ["<http://e/s1>"], 2: ["<http://e/s2>"], 3: ["<http://e/s3>"], 4: []}
    Path("times.trig").write_text(TIMES)
    rdfm("convert", "times.trig", "-o", "days/", "--split-by", "day", "--to", "nq")
    names = sorted(path.name for path in Path("days").iterdir())
    assert [name[:10] for name in names] == ["2026-06-01", "2026-06-02", "2026-06-03", "other.nq"]


def test_times_combine_with_other_criteria(rdfm):
    Path("times.trig").write_text(TIMES)
    day = ("--after", "2026-06-02", "--before", "2026-06-03")
    assert rdfm("filter", "times.trig", *day, "--count").out == "1\n"
    assert rdfm("filter", "times.trig", *day, "--predicate", "ex:count", "--count").out == "1\n"
    assert rdfm("filter", "times.trig", *day, "--predicate", "ex:other", "--count").out == "0\n"
    quads = rdfm("filter", "times.trig", *day, "--quads", "--to", "nq").out
    assert (
        quads
        == '<http://e/s2> <http://e/at> "2026-06-02"^^<http://www.w3.org/2001/XMLSchema#date> .\n'
    )
    quads = rdfm(
        "filter", "times.trig", *day, "--quads", "--predicate", "ex:count", "--to", "nq"
    ).out
    assert "ex:at" not in quads
    assert quads.count("\n") == 1
    inverted = rdfm("filter", "times.trig", *day, "--invert", "--count").out
    assert inverted == "3\n"


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ([], "no criterion is given; --any TERM selects messages that contain a term"),
        (["--time", "ex:at"], "--after TIME selects messages at or after TIME, or --before"),
        (
            ["--after", "2026-06-01"],
            "no message has a known time property, such as sosa:resultTime; --time PREDICATE "
            "specifies the property",
        ),
        (
            ["--time", "ex:at", "--after", "June"],
            "'June' is not a date or time; write 2026-06-01 or",
        ),
        (["--any", "_:b"], "blank nodes are local to their message and cannot be matched"),
        (["--any", "http://e/a"], "an IRI without angle brackets; write <http://e/a>"),
        (["--any", "x:y"], "no log declares the prefix x:"),
        (["--any", "x:y"], "--prefix NAME=IRI declares it"),
        (["--regex", "("], "--regex: unclosed group"),
        (["--where", "ASK { ?s ?p }"], "where: "),
        (
            ["--where", "SELECT * { ?s ?p ?o }"],
            "where must be an ASK query, such as ASK { … }, not a SELECT query",
        ),
        (["--where", "ASK { ?s ?p ?o }", "--quads"], "--where selects messages"),
        (["--any", "ex:s1", "--count", "--to", "nq"], "--to applies to output"),
        (
            ["--any", "ex:s1", "--count", "-o", "out.nq"],
            "--count prints a number instead of writing a log; remove -o",
        ),
        (["--any", "ex:s1", "--count", "--indent", "2"], "No such option '--indent'"),
    ],
)
@pytest.mark.usefixtures("log")
def test_invalid_criteria_are_rejected(rdfm, arguments, text):
    run = rdfm(
        "filter", "log.trig", *arguments, *([] if "--count" in arguments else ["-o", "out.trig"])
    )
    assert run.code == 2
    assert text in run.error
    assert not Path("out.trig").exists()


@pytest.mark.usefixtures("log")
def test_a_prefixed_name_needs_namespaces(rdfm):
    run = rdfm("filter", "log.trig", "log.nq", "--any", "ex:crane", "--count")
    assert run.code == 2
    assert (
        "log.nq: the prefix ex: is not declared, since N-Quads has no namespaces; --prefix"
        in run.error
    )
    run = rdfm(
        "filter", "log.trig", "log.nq", "--any", "ex:crane", "--count", "--prefix", "ex=http://e/"
    )
    assert run.out == "4\n"
    Path("empty.trig").write_text("")
    assert rdfm("filter", "empty.trig", "--any", "ex:crane", "--count").out == "0\n"


@pytest.mark.usefixtures("log")
def test_take_limits_the_count(rdfm):
    run = rdfm("filter", "log.trig", "--predicate", "ex:species", "--count", "--take", "3")
    assert run.out == "3\n"
    assert rdfm("filter", "log.trig", "--any", "x:y", "--count", "--take", "0").out == "0\n"


@pytest.mark.usefixtures("log")
def test_messages_in_parts_cannot_be_filtered():
    data = b"".join(b"<x:a> <x:p> <x:%d> .\n" % at for at in range(20_000))
    with (
        library.open_log(data, "nq", parts=True) as log,
        pytest.raises(
            library.OptionError, match="only complete messages can be filtered"
        ) as raised,
    ):
        list(log.filter(any="<x:1>"))
    assert [remedy.option for remedy in raised.value.remedies] == ["quads"]
    # The time and the term may be in different quads.
    with (
        library.open_log(data, "nq", parts=True) as log,
        pytest.raises(library.OptionError, match="only complete messages can be filtered"),
    ):
        list(log.filter(any="<x:1>", after="2026-01-01", quads=True))


@pytest.mark.usefixtures("log")
def test_a_filtered_log_can_be_filtered_again(rdfm):
    with library.open_log("log.trig") as log:
        found = log.filter(any=["ex:crane"]).filter(predicate="ex:note")
        assert [message.message_index for message in found] == [0]
    with (
        library.open_log("log.trig") as log,
        pytest.raises(
            library.OptionError, match="any must be a string or a list of strings, not int"
        ),
    ):
        log.filter(any=5)


@pytest.mark.usefixtures("log")
def test_quads_are_selected_in_messages_that_match_a_query(rdfm):
    arguments = ["--predicate", "ex:species", "--quads", "--where", "ASK { ?s <http://e/count> 5 }"]
    run = rdfm("filter", "log.trig", *arguments, "--to", "nq", "--quiet")
    assert run.out == "<http://e/s2> <http://e/species> <http://e/wren> .\n"
