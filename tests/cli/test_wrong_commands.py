"""Invalid commands: exit code 2 (or 1 for files), one clear line, and nothing written."""

from pathlib import Path

import pytest


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ("convert", "no input or output given; use: rdfm convert IN OUT"),
        ("convert a.nq", "no output given; add it after a.nq, or use -o FILE"),
        ("convert a.nq b.nq c.nq", "3 files given without -o"),
        ("convert a.nq a.nq", "a.nq is also an input"),
        ("convert a.nq -o a.nq", "a.nq is also an input"),
        ("convert a.nq out.trig --prefix e?x=http://e/", "'e?x' is not a prefix"),
        ("convert a.nq out.trig --prefix ex=relative", "'relative' is not an absolute IRI"),
        ("convert a.nq b.nq -o ./b.nq", "./b.nq is also an input"),
        (
            "convert a.nq out.foo",
            "out.foo: the name does not identify a format; --to nt, nq",
        ),
        ("convert a.nq out.nt --to hdt", "there is no format 'hdt'; the formats are nt, nq"),
        ("convert a.nq out.nt --frobnicate", "No such option '--frobnicate'"),
        ("convert a.nq out.nt --to-dialect loud", "dialect must be one of 'comment', 'directive'"),
        (
            "convert a.nq out.nt --dialect comment",
            "--from-dialect comment applies to the input, or --to-dialect",
        ),
        (
            "convert a.nq out.nq --physical-type quads",
            "the option --physical-type is for writing Jelly, not N-Quads",
        ),
        (
            "convert a.nq out.jelly --name-table 3",
            "the name table size is 3, expected 8 or more",
        ),
        ("convert a.nq out.jelly --flat --frames message", "; --to-frames flat writes one message"),
        (
            "convert a.nq out.arrow --prefix ex=http://e/",
            "the option --prefix is for writing Turtle, TriG, Jelly",
        ),
        (
            "convert a.nq out.nq --prefix ex=http://e/",
            "the option --prefix is for writing Turtle, TriG, Jelly",
        ),
        ("convert a.nq out.nq --split-by day", "--split-by requires a folder, but out.nq is not a"),
        ("convert a.nq -o out.tar --split-by day", "--split-by requires a folder, but an archive"),
        (
            "convert a.nq - --to nq --split-by day",
            "--split-by requires a folder, but the output is",
        ),
        ("convert a.nq -o o.nq/ --split-by year", "--split-by must be graph, value:PREDICATE, day"),
        ("convert a.nq -o o.nq/ --split-by value:5", "'5' is not an IRI; write <http"),
        ("convert a.nq -o o.nq/ --max-open 5", "--split-by KEY splits the log"),
        ("convert a.nq -o o.nq/ --split-by day --max-open 0", "max-open"),
        (
            "convert a.nq -o o.nq/ --split-by day --split-bytes 1",
            "--split-by and --split-bytes cannot be combined; use one of them",
        ),
        (
            "convert a.nq -o o.nq/ --split-by graph --append",
            "with --append, --split-by must be day or month, because other file names depend on the order of the keys",
        ),
        ("convert a.nq out.trig --version-label 1.2", "--to-dialect directive writes it"),
        (
            "convert a.nq out.jelly --to-dialect directive",
            "is for writing N-Triples, N-Quads, Turtle",
        ),
        (
            "convert a.nq out.nt --no-rdf-star",
            "--rdf-star is for writing Jelly and Jelly-Patch",
        ),
        ("convert a.nq out.trig --rdf-star-syntax", "is for writing N-Triples and N-Quads"),
        (
            "convert a.nq out.jelly --name-table 65537",
            "name-table must be a number from 0 to 65536",
        ),
        ("convert a.nq out.jelly --skip -1", "skip must be a number >= 0, not '-1'"),
        ("convert a.nq out.jelly --prefix foo", "'foo' is not NAME=IRI, such as ex=http://"),
        (
            "convert a.nq out.jelly --max-message-bytes lots",
            "such as 1000, 64K or 64M (powers of 1024), not 'lots'",
        ),
        ("convert - - - -o out.nq", "standard input (-) can be read only once"),
        (
            "convert a.nq s3://bucket/out.nq",
            "cannot write to the URL s3://bucket/out.nq",
        ),
        (
            "convert a.nq dbfs:/out.nq",
            "write /dbfs/out.nq or dbfs:///out.nq, or ./dbfs:/out.nq for",
        ),
        ("convert a.nq dbfs:/out/ --to nq", "one slash after dbfs:"),
        ("convert a.nq s3:/bucket/out.tar.gz", "write s3://bucket/out.tar.gz, or"),
        ("convert s3:/bucket/a.nq out.nq", "write s3://bucket/a.nq, or"),
        ("convert hdfs:/logs/*.nq -o out.nq", "write hdfs://host/logs/*.nq, or"),
        ("inspect hdfs:/logs", "write hdfs://host/logs, or"),
        ("convert a.nq out.jelly --options-from s3:/b/o.jelly", "write s3://b/o.jelly, or"),
        ("convert --message-per-file", "no input or output given"),
        ("inspect", "Missing argument 'LOG...'"),
        ("completion tcsh", "'tcsh' is not one of"),
        ("completion", "no shell given; use bash, zsh or fish, for example: rdfm completion bash"),
        (
            "frobnicate",
            "No such command 'frobnicate'; the commands are convert, cat, head, tail, inspect",
        ),
        ("--frobnicate", "No such option '--frobnicate'"),
        ("convert a.nq out.nt --to-format nt", "No such option '--to-format'; did you mean --to?"),
        ("cat a.nq --from-format nq", "No such option '--from-format'; did you mean --from?"),
        ("convert a.nq out.nt --head 2", "No such option '--head'; did you mean --take?"),
        ("convert a.nq out.nt --limit 2", "No such option '--limit'; did you mean --take?"),
        ("convert a.nq out.nt --first 2", "No such option '--first'; did you mean --take?"),
        (
            "convert a.nq out.nq --sample 0",
            "sample must be a percentage such as 1%, or a positive number of messages",
        ),
        ("convert a.nq out.nq --sample 2 --take 1", "--sample and --take both select messages"),
        ("convert a.nq out.nq -m 1 --skip 1", "--messages and --skip both select messages"),
        (
            "convert a.nq out.nq -m 1-2",
            "messages must be a number such as 5000, or a slice such as",
        ),
        ("convert a.nq out.nq -m 3", "there is no message 3; the last one is message 2"),
        (
            "convert a.nq out.nq --seed 3",
            "--seed applies to a random sample; add an option such as --sample 1%",
        ),
        ("convert a.nq out.nq --default-graph-as g", "default_graph_as must be an absolute IRI"),
        ("convert - out.nq --from nq --sample 2", "standard input can be read only once; use a"),
        ("validate", "Missing argument 'INPUT...'"),
        ("validate - -", "standard input (-) can be read only once"),
        ("validate a.nq --max-errors 0", "--max-errors must be a number >= 1, not '0'"),
        (
            "validate a.nq --max-warnings few",
            "--max-warnings must be a number >= 0, not 'few'",
        ),
        ("validate a.nq --format xml", "--format must be text, json or github, not 'xml'"),
        ("validate a.nq --json --format github", "--json and --format github cannot be combined"),
        ("validate a.nq --from hdt", "there is no format 'hdt'; the formats are nt, nq"),
        ("validate a.nq --frames flat", "the option --frames is for reading Jelly"),
        ("validate a.nq b.nq --frames flat", "the option --frames is for reading Jelly"),
        ("validate a.nq --stric", "No such option '--stric'; did you mean --strict?"),
        ("validate a.nq --to nt", "No such option '--to'"),
        ("validate a.nq --options-from b.nq", "b.nq has no stream options"),
        (
            "validate a.nq --options-from no.jelly",
            "cannot read --options-from: no.jelly: No such",
        ),
        ("validate a.nq --shapes no.ttl", "cannot read --shapes: no.ttl: No such file"),
        ("validate a.nq --shapes bad.nq", "cannot read --shapes: bad.nq: nq: expected an IRI"),
        ("validate a.nq --shapes b.nq", "b.nq contains no SHACL shapes"),
        ("cat", "Missing argument 'LOG...'"),
        ("cat a.nq -m ::0", "the step of --messages must be at least 1"),
        ("cat a.nq -m -4", "there is no message -4; the last one is message 2"),
        ("cat a.nq --color blue", "--color must be auto, always or never, not 'blue'"),
        ("cat a.nq --take 2", "No such option '--take' (see rdfm cat --help)"),
        ("cat - -", "standard input (-) can be read only once"),
        ("head a.nq -n -1", "-1 is too small; the minimum is 0"),
        ("tail a.nq -n many", "'many' is not an integer"),
        ("filter a.nq", "no criterion is given; --any TERM selects messages that contain a term"),
        (
            "filter kingfisher a.nq",
            "there is no file kingfisher, and no criterion is given; --contains kingfisher",
        ),
        ("filter a.nq --regex [", "--regex: unclosed character class"),
        ("query a.nq ASK{?s?p?o}", "the query comes before the logs"),
        (
            "query ASK{?s<x:p>foaf:o} a.nq",
            "the prefix foaf: of foaf:o is not declared; add PREFIX foaf: <...> (line 1, column 12); "
            "--prefix foaf=IRI also declares it",
        ),
        ("filter a.nq --any ex:a", "has no namespaces; --prefix NAME=IRI declares it"),
        ("filter a.nq --any http://e/s", "is an IRI without angle brackets; write <http://e/s>"),
        ("filter a.nq --any _:x", "blank nodes are local to their message and cannot be matched"),
        ("filter a.nq --subject x", "'x' is not a term; write <http://example.org/a>, ex:a"),
        ("filter a.nq --regex (", "regex: unclosed group"),
        (
            "filter a.nq --after 2026-01-01",
            "no message has a known time property, such as sosa:resultTime; --time PREDICATE",
        ),
        (
            "filter a.nq --time <http://e/p>",
            "--time alone selects nothing; --after TIME selects messages",
        ),
        ("filter a.nq --time <http://e/p> --after noon", "'noon' is not a date or time; write"),
        ("filter", "Missing argument 'LOG...'"),
        ("hash", "Missing argument 'LOG...'"),
        ("hash a.nq -m 7", "there is no message 7; the last one is message 2"),
        ("hash a.nq -m 1 --sample 1%", "--messages and --sample both select messages"),
        ("hash a.nq --seed 3", "--seed applies to a random sample; add an option such as"),
        ("hash a.nq --max-steps 0", "--max-steps must be a number >= 1, not '0'"),
        ("hash a.nq --canonical", "No such option '--canonical'"),
        ("query", "Missing argument 'QUERY'"),
        ("query ASK{} a.nq --timeout -1", "timeout must be a number of seconds"),
        ("query ASK{} a.nq --take 2", "No such option '--take'"),
        ("query ASK{}", "there is nothing to query; name a log"),
        ("tail a.nq -m 3", "No such option '-m'"),
        (
            "convert a.nq out.nt --undelimted",
            "No such option '--undelimted'; did you mean --to-undelimited",
        ),
        ("diff a.nq", "Missing argument 'B'"),
        ("diff a.nq b.nq b.nq", "Got unexpected extra argument (b.nq)"),
        ("diff - -", "standard input (-) can be read only once"),
        ("diff a.nq b.nq --quads sorted", "quads must be one of 'set', 'ordered', not 'sorted'"),
        ("diff a.nq b.nq --limit few", "limit must be a number >= 0, not 'few'"),
        ("diff a.nq b.nq --window 0", "window must be a number from 1 to 100000, not '0'"),
        ("diff a.nq b.nq --max-steps 0", "--max-steps must be a number >= 1, not '0'"),
        ("diff a.nq b.nq --from hdt", "there is no format 'hdt'"),
        (
            "diff a.nq b.nq --from nq --from-b nq",
            "a format for both logs cannot be combined with a format for one log; remove one",
        ),
        ("diff a.nq b.nq --rdf-direction none", "--rdf-direction is for reading"),
        ("diff a.nq b.nq --name-table 9", "No such option '--name-table'"),
        ("diff a.nq b.nq --unorderd", "did you mean --unordered"),
        ("diff --unordered a.nq -", "can be read only once"),
        ("diff a.nq nope.nq", "nope.nq: No such file or directory"),
        ("inspect a.nq --head 2", "No such option '--head' (see"),
        ("convert a.nq out.nt --take five", "take must be a number >= 0, not 'five'"),
        ("convert a.nq out.nt --max-depth 0", "max-depth must be a number from 1 to 100, not '0'"),
        ("inspect a.nq --stat", "No such option '--stat'; did you mean --stats?"),
        ("inspect a.nq --rdf --json", "--json and --rdf cannot be combined"),
        ("inspect a.nq --json --html p.html", "--json and --html cannot be combined"),
        ("inspect a.nq --html", "Option '--html' requires an argument"),
        ("inspect a.nq a.nq --html p.html", "--html requires a single log, found 2"),
        ("inspect a.nq a.nq --rdf", "--rdf requires a single log, found 2"),
        ("inspect a.nq --html ./a.nq", "./a.nq is also an input; write to another file"),
        ("inspect a.nq --stats --dialect loud", "dialect must be one of 'comment', 'directive'"),
        ("inspect a.nq --top five", "'--top': 'five' is not an integer"),
        (
            "convert a.nq out.nt --group-by count=0",
            "N of --group-by count=N must be a number >= 1",
        ),
        (
            "convert a.nq out.nt --group-by count=999999999999999999G",
            "N of --group-by count=N must be a number >= 1",
        ),
        ("convert a.nq out.nt --group-by count=five", "not 'five'"),
    ],
)
def test_wrong_arguments_are_usage_errors(rdfm, arguments, text):
    before = {path: path.read_bytes() for path in Path().iterdir()}
    run = rdfm(*arguments.split())
    assert text in run.error
    assert run.code == 2
    assert {path: path.read_bytes() for path in Path().iterdir()} == before


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ("convert nope.nq out.nt", "nope.nq: No such file or directory"),
        ("convert a.nq no/out.nt", "no: No such folder"),
        (
            "convert a.nq out.jelly --options-from nope.jelly",
            "nope.jelly: No such file or directory",
        ),
        ("inspect nope.nq", "nope.nq: No such file or directory"),
        ("inspect nope.nq --stats", "nope.nq: No such file or directory"),
        ("inspect a.nq --html no/page.html", "no: No such folder"),
        (
            "convert a.nq out.nt",
            "a.nq: nt: the format does not support graph names; found graph",
        ),
    ],
)
def test_unusable_files_are_named(rdfm, arguments, text):
    run = rdfm(*arguments.split())
    assert text in run.error
    assert run.code == 1
    assert not list(Path().glob("out*"))
    assert not list(Path().glob(".out*"))


def test_the_help_is_shown_without_a_command(rdfm):
    run = rdfm()
    assert run.code == 2
    assert "rdfm [OPTIONS] COMMAND" in run.err


def test_debug_raises_the_exception(rdfm):
    with pytest.raises(FileNotFoundError):
        rdfm("--debug", "convert", "nope.nq", "out.nt")


def test_control_characters_in_names_are_escaped(rdfm):
    run = rdfm("convert", "\x1b[31mred.nq", "out.nt")
    assert run.error == "\\x1b[31mred.nq: No such file or directory"


def test_inspect_continues_after_a_missing_file(rdfm):
    run = rdfm("inspect", "a.nq", "nope.nq", "b.nq")
    assert run.code == 1
    assert "a.nq" in run.out
    assert "b.nq" in run.out
    assert run.error == "nope.nq: No such file or directory"


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ("convert . out.nt --from nq", "out.nt is in the input folder .; write to another folder"),
        (
            "convert a.nq . --to nt",
            "the input a.nq is in the output folder .; write to another folder",
        ),
        ("convert a.nq out/", "out/: the name does not identify a format; --to nt, nq"),
        ("convert a.nq out.tar --split-messages 2", "an archive has a member for each message"),
        ("convert a.nq c.nq --overwrite", "overwrite applies to folders"),
    ],
)
def test_unusable_folders_are_named(rdfm, arguments, text):
    run = rdfm(*arguments.split())
    assert text in run.error
    assert run.code == 2


HTML = b"<!DOCTYPE html>\n<html><body>x</body></html>\n"
UTF_16 = "<http://e/s> <http://e/p> <http://e/o> .\n".encode("utf-16")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ("cat a.nq --json", "No such option '--json'; --to ndjsonld writes messages as JSON-LD"),
        ("cat a.nq -o f", "No such option '-o'; rdfm convert LOG OUT writes a file"),
        ("patch from-log a.nq -o f", "No such option '-o'; use: rdfm patch from-log LOG OUT"),
        ("patch from-log a.nq", "use: rdfm patch from-log LOG OUT (- is standard output)"),
        ("inspect a.nq -o f", "No such option '-o'; > FILE writes the output to a file"),
        ("convert a.nq b.nq --format nq", "'--format'; --from names the format of the input"),
        ("convert a.nq --output nq", "nq is a format, not the name of a file; write a name such"),
        ("convert a.nq y.nq.gz --compression zstd", "y.nq.gz has the suffix of gzip, but"),
        ("convrt a.nq b.nq", "No such command 'convrt'; did you mean convert?"),
        ("help convrt", "No such command 'convrt'; did you mean convert?"),
        ("a.nq", "No such command 'a.nq'; rdfm cat a.nq prints this log"),
        ("version", "No such command 'version'; rdfm --version prints the version"),
        ("cat", "Missing argument 'LOG...'; use: rdfm cat LOG... (- is standard input)"),
        ("diff a.nq", "Missing argument 'B'; use: rdfm diff A B (- is standard input)"),
        ("cat page.html", "the content is an HTML page, not RDF; download the RDF file itself"),
        ("cat page.nq", "the content is an HTML page, not RDF"),
        ("cat page.html --from ttl", "the content is an HTML page, not RDF"),
        ("cat wide.nq", "the text is in UTF-16, but rdfm reads UTF-8; iconv -f UTF-16 -t UTF-8"),
        ("cat wide", "the text is in UTF-16, but rdfm reads UTF-8; iconv -f UTF-16 -t UTF-8"),
        ("cat a.jelly --from trig", "the name has the suffix of Jelly; --from jelly reads it"),
    ],
)
def test_an_error_says_what_to_do(rdfm, arguments, text):
    assert rdfm("convert", "a.nq", "a.jelly", "-q").code == 0
    for name, content in {
        "page.html": HTML,
        "page.nq": HTML,
        "wide.nq": UTF_16,
        "wide": UTF_16,
    }.items():
        Path(name).write_bytes(content)
    run = rdfm(*arguments.split())
    assert run.code in (1, 2)
    assert text in run.error


def test_a_suffix_of_another_format_is_noted(rdfm):
    run = rdfm("convert", "a.nq", "x.nq", "--to", "trig")
    assert run.code == 0
    assert "rdfm: note: x.nq has the suffix of N-Quads, but it contains TriG\n" in run.err
