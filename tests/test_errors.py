"""Exceptions: class hierarchy, texts with positions and remedies, pickling."""

import inspect
import io
import pickle
import re
from pathlib import Path

import click
import pytest
from support import NATIVE

import rdfm
from rdfm import (
    Iri,
    Literal,
    MessageBatch,
    Quad,
    TripleTerm,
    errors,
    formats,
)
from rdfm.analysis.finding import reason
from rdfm.cli.cli_remedies import render_for_command_line
from rdfm.errors import OptionError, RdfmError, Remedy, render
from rdfm.nanopub import MirrorError
from rdfm.nanopub.state import MirrorState
from rdfm.spark.spark_remedies import render_for_function, render_for_spark
from rdfm.storage.addresses import redact_url
from rdfm.storage.contexts import ContextLoader

ROOT = Path(__file__).parents[1]
LANG_STRING = "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString"

ERROR_WITH_POSITION = errors.LimitError(
    "too large", format="jelly", byte_offset=7, message_index=2, frame=2, row=0, source="a.jelly"
)


def test_the_docstring_shows_the_class_hierarchy():
    classes = {
        name
        for name, value in vars(errors).items()
        if inspect.isclass(value) and issubclass(value, Exception)
    }
    assert set(errors.__all__) - {"Remedy", "Renderer", "render"} == classes
    assert all(f" {name}" in errors.__doc__ for name in classes)


def test_error_texts_contain_the_position():
    assert (
        str(ERROR_WITH_POSITION) == "a.jelly: jelly: too large (frame 2, row 0, byte 7, message 2)"
    )
    error = errors.DecodeError(
        "bad", format="nq", line=3, column=41, byte_offset=127, message_index=1
    )
    assert str(error) == "nq: bad (line 3, column 41, byte 127, message 1)"
    assert str(errors.DecodeError("bad")) == "bad"
    assert str(errors.EncodeError("bad", format="ttl", message_index=4)) == "ttl: bad (message 4)"


@pytest.mark.parametrize(
    "error",
    [
        ERROR_WITH_POSITION,
        errors.EncodeError("bad", format="ttl", message_index=4, completed=b"<a> <b> <c> .\n"),
        errors.LimitError(
            "too deep", remedies=[Remedy("read", "max_depth", None, "if the source is trusted")]
        ),
        errors.OptionError("no such option"),
        errors.OptionError(
            "holds files", remedies=[Remedy("stage", "overwrite", "true", "removes them")]
        ),
        errors.UnknownFormatError("no such format"),
        errors.MissingExtraError("pip install rdfm[arrow]"),
        errors.InternalError("a bug"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_are_pickled_with_their_attributes(error):
    error.note = "set later"
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert str(copy) == str(error)
    assert vars(copy) == vars(error)
    assert copy.args == error.args


def test_pickling_keeps_the_attribute_follows():
    assert errors.DecodeError("bad").follows is False
    error = errors.DecodeError("bad (message 3 was skipped)", follows=True)
    assert pickle.loads(pickle.dumps(error)).follows is True


def test_errors_have_builtin_bases():
    assert issubclass(errors.DecodeError, ValueError)
    assert issubclass(errors.EncodeError, ValueError)
    assert issubclass(errors.OptionError, ValueError)
    assert issubclass(errors.UnknownFormatError, LookupError)
    assert issubclass(errors.MissingExtraError, ImportError)
    assert all(
        issubclass(getattr(errors, name), errors.RdfmError)
        for name in set(errors.__all__) - {"Remedy", "Renderer", "render"}
    )


@pytest.mark.parametrize(
    ("remedy", "python", "command", "spark", "function"),
    [
        (
            Remedy("write", "merge_graphs", "true", "drops them"),
            "merge_graphs=True drops them",
            "--merge-graphs drops them",
            '.option("mergeGraphs", "true") drops them',
            "merge_graphs=True drops them",
        ),
        (
            Remedy("read", "max_message_bytes", None, "if it is trusted"),
            "a larger max_message_bytes allows it, if it is trusted",
            "a larger --max-message-bytes allows it, if it is trusted",
            "a larger option maxMessageBytes allows it, if it is trusted",
            "a larger max_message_bytes allows it, if it is trusted",
        ),
        (
            Remedy("write", "name_table", None, ""),
            "a larger name_table allows it",
            "a larger --name-table allows it",
            "a larger option nameTable allows it",
            "a larger name_table allows it",
        ),
        (
            Remedy("read", "frames", "message", "reads each frame as a message"),
            'frames="message" reads each frame as a message',
            "--from-frames message reads each frame as a message",
            '.option("frames", "message") reads each frame as a message',
            'frames="message" reads each frame as a message',
        ),
        (
            Remedy("write", "delimited", "false", "writes none"),
            "delimited=False writes none",
            "--to-undelimited writes none",
            '.option("delimited", "false") writes none',
            "delimited=False writes none",
        ),
        (
            Remedy("read", "framing", "rows", "reads it"),
            'framing="rows" reads it',
            "--from-framing rows reads it",
            '.option("framing", "rows") reads it',
            'framing="rows" reads it',
        ),
        (
            Remedy("read", "context", "URL=FILE", "names its file"),
            "context={URL: FILE} names its file",
            "--context URL=FILE names its file",
            """.option("context", '{"URL": "FILE"}') names its file""",
            "context={URL: FILE} names its file",
        ),
        (
            Remedy("read", "base", "IRI", "makes it absolute"),
            "base=IRI makes it absolute",
            "--base IRI makes it absolute",
            '.option("base", "IRI") makes it absolute',
            "base=IRI makes it absolute",
        ),
        (
            Remedy("stage", "to", "nq|trig|jelly", "supports it"),
            'format="nq", "trig" or "jelly" (to in convert) supports it',
            "--to nq, trig or jelly supports it",
            '.option("to", …) with nq, trig or jelly supports it',
            'format="nq", "trig" or "jelly" supports it',
        ),
        (
            Remedy("stage", "from_format", "trig", "reads it"),
            'format="trig" (from_format in convert) reads it',
            "--from trig reads it",
            '.option("format", "trig") reads it',
            'format="trig" reads it',
        ),
        (
            Remedy("stage", "split_messages", "1", "writes files"),
            "split_messages=1 writes files",
            "--split-messages 1 writes files",
            '.option("maxRecordsPerFile", "1") writes files',
            None,
        ),
        (
            Remedy("stage", "on_error", "skip", "leaves it out"),
            'on_error="skip" leaves it out',
            "--on-error skip leaves it out",
            '.option("mode", "DROPMALFORMED") leaves it out',
            'mode="DROPMALFORMED" leaves it out',
        ),
        (
            Remedy("stage", "group_by", "count=N", "divides messages"),
            'group_by="count=N" divides messages',
            "--group-by count=N divides messages",
            None,
            None,
        ),
    ],
    ids=lambda value: value.option if isinstance(value, Remedy) else "",
)
def test_each_surface_shows_options_in_its_own_syntax(remedy, python, command, spark, function):
    assert remedy.render() == python
    assert remedy.render(render_for_command_line) == command
    assert remedy.render(render_for_spark) == spark
    assert remedy.render(render_for_function) == function


def test_options_that_the_command_line_lacks_are_omitted_there():
    assert Remedy("write", "values", "false", "writes none").render(render_for_command_line) is None


def test_remedies_follow_the_reason_and_precede_the_position():
    error = errors.EncodeError(
        "no graph names",
        format="ttl",
        message_index=4,
        source="a.nq",
        remedies=(
            Remedy("write", "merge_graphs", "true", "drops them"),
            Remedy("stage", "group_by", "graph", "divides it"),
            Remedy("stage", "to", "nq", "supports them"),
        ),
    )
    assert error.reason == "no graph names"
    assert str(error) == (
        "a.nq: ttl: no graph names; merge_graphs=True drops them, or "
        'group_by="graph" divides it, or format="nq" (to in convert) supports them (message 4)'
    )
    assert render(error, render_for_spark) == (
        'a.nq: ttl: no graph names; .option("mergeGraphs", "true") drops them, or '
        '.option("to", "nq") supports them (message 4)'
    )
    error.renderer = render_for_command_line
    assert str(pickle.loads(pickle.dumps(error))) == (
        "a.nq: ttl: no graph names; --merge-graphs drops them, or "
        "--group-by graph divides it, or --to nq supports them (message 4)"
    )


def test_errors_without_remedies_are_rendered_unchanged():
    assert render(errors.OptionError("no such option"), render_for_command_line) == "no such option"
    assert render(OSError("broken"), render_for_spark) == "broken"
    assert errors.DecodeError("bad").remedies == ()
    option = errors.OptionError(
        "is full", remedies=[Remedy("stage", "overwrite", "true", "empties it")]
    )
    assert render(option, render_for_command_line) == "is full; --overwrite empties it"


def supports(name, feature):
    carries = formats.find(name).spec.carries
    if feature == "triple_term_objects":
        return carries["triple_terms"] != "no"
    return carries[feature]


def _quads(text: str):
    return formats.find("nq").decode(text.encode(), generalized=True)


@pytest.mark.parametrize(
    ("name", "log", "reason", "remedies", "lacks"),
    [
        ("nq", b"<a> <b> <c> .", "absolute IRI", ["lenient=true"], None),
        (
            "nq",
            b"MESSAGE",
            "does not announce messages",
            ["lenient=true", "announced=1.2-messages"],
            None,
        ),
        ("nq", b"a:b <x:b> <x:c> .", "prefixed names", ["from_format=trig"], "prefixed_names"),
        ("nt", b"a:b <x:b> <x:c> .", "prefixed names", ["from_format=ttl"], "prefixed_names"),
        ("nt", b"<x:a> <x:b> <x:c> <x:g> .", "graph names", ["from_format=nq"], "graphs"),
        ("ttl", b"<x:g> { }", "a graph block", ["from_format=trig"], "graphs"),
        ("ttl", b"<a> <b> <c> .", "needs a base", ["base=IRI", "lenient=true"], None),
        ("ttl", b"<x:a> <x:b> " + b"(" * 65, "nested deeper", ["max_depth=None"], None),
        ("ndjsonld", b'{"a": 1, "a": 2}', "occurs twice", ["lenient=true"], None),
        (
            "ndjsonld",
            b'{"@context": "http://x/c"}',
            "not available",
            ["context=URL=FILE", "contexts=DIR", "allow_network=true"],
            None,
        ),
        ("yamlld", b"[" * 65 + b"]" * 65, "nested deeper than", ["max_depth=None"], None),
    ],
)
def test_decoders_name_remedies(name, log, reason, remedies, lacks):
    with pytest.raises(errors.DecodeError) as caught:
        formats.find(name).decode(log)
    error = caught.value
    assert reason in error.reason
    assert [f"{each.option}={each.value}" for each in error.remedies] == remedies
    assert error.missing_feature == lacks
    assert all(
        each.render(render_for_command_line) in render(error, render_for_command_line)
        for each in error.remedies
    )


@pytest.mark.parametrize(
    ("name", "quads", "remedies", "lacks"),
    [
        (
            "ttl",
            "<x:a> <x:b> <x:c> <x:g> .",
            [
                "merge_graphs=true",
                "to=SUPPORTING",
            ],
            "graphs",
        ),
        (
            "trig",
            '"a" <x:b> <x:c> .',
            ["to=SUPPORTING"],
            "generalized",
        ),
        (
            "ndjsonld",
            "<x:a> <x:b> <<( <x:a> <x:b> <x:c> )>> .",
            ["to=SUPPORTING"],
            "triple_term_objects",
        ),
        (
            "rdfxml",
            "<x:a> <x:1> <x:c> .",
            ["to=SUPPORTING"],
            "any_text",
        ),
        ("rdf-thrift", "<x:a> <x:b> <x:c> .\n# @message", ["flat=true"], "boundaries"),
    ],
)
def test_encoders_name_options_and_formats_as_remedies(name, quads, remedies, lacks):
    batch = _quads(quads + "\n<x:a> <x:b> <x:d> .\n")
    with pytest.raises(errors.EncodeError) as caught:
        formats.find(name).encode(batch)
    error = caught.value
    supporting = "|".join(filter(lambda native: supports(native, lacks), NATIVE))
    expected = [remedy.replace("SUPPORTING", supporting) for remedy in remedies]
    assert [f"{each.option}={each.value}" for each in error.remedies] == expected
    assert error.missing_feature == lacks


P = Iri("http://e/p")


@pytest.mark.parametrize(
    ("name", "quad", "lacks"),
    [
        ("ttl", Quad(P, P, P, P), "graphs"),
        ("trig", Quad(Literal("a"), P, P), "generalized"),
        ("trig", Quad(TripleTerm(P, P, P), P, P), "triple_terms"),
        ("jsonld", Quad(P, P, TripleTerm(P, P, P)), "triple_term_objects"),
        ("jsonld", Quad(P, P, TripleTerm(Literal("a"), P, P)), "triple_terms"),
        ("ndjsonld", Quad(Iri("relative"), P, P), "any_iri"),
        ("ndjsonld", Quad(P, P, Iri("http://e/a[1]")), "invalid_iri"),
        ("jsonld", Quad(P, P, Iri("http://e/100%")), "invalid_iri"),
        ("nq", Quad(P, P, Iri("relative")), "any_iri"),
        ("rdfxml", Quad(P, P, Literal("a", datatype=LANG_STRING)), "any_iri"),
        ("ndjsonld", Quad(P, P, Literal("a", datatype=LANG_STRING)), "any_iri"),
        ("trig", Quad(P, P, Literal("a", language="a_b")), "any_language"),
        ("rdfxml", Quad(P, Iri("http://e/1"), P), "any_text"),
        ("rdfxml", Quad(P, P, Literal("\x02")), "any_text"),
    ],
)
def test_suggested_formats_support_the_missing_feature(name, quad, lacks):
    batch = MessageBatch.from_messages([[quad]])
    module = formats.find(name)
    with pytest.raises(errors.EncodeError) as caught:
        module.encode(batch)
    assert caught.value.missing_feature == lacks
    suggested = caught.value.remedies[-1].value.split("|")
    assert suggested
    for other in map(formats.find, suggested):
        reads, writes = other.spec.options("read"), other.spec.options("write")
        read = {option: True for option in ("lenient", "generalized") if option in reads}
        write = {option: True for option in ("generalized", "rdf_star") if option in writes}
        (back,) = other.decode(other.encode(batch, **write), **read)
        assert back.quads == [quad], other.name


# Base directions, which look like flags, and flags of other programs.
OTHER_FLAGS = ("ltr", "rtl", "long", "glob", "release")


def _flags(path: Path) -> list[str]:
    """Returns the command line flags in a file's string literals, without comments and tests."""
    text = path.read_text("utf-8")
    if path.suffix == ".rs":
        text = re.sub(r"(?m)^\s*//.*$", "", text.partition("#[cfg(test)]\nmod ")[0])
    found = re.findall(r"(?<![-\w])--([a-z][a-z-]+)", text)
    return [flag for flag in found if flag not in OTHER_FLAGS]


def test_only_the_command_line_package_contains_its_flags():
    rust = [*ROOT.glob("crates/*/src/**/*.rs")]
    python = [path for path in ROOT.glob("rdfm/**/*.py") if ROOT / "rdfm/cli" not in path.parents]
    found = {path.relative_to(ROOT).as_posix() for path in (*rust, *python) if _flags(path)}
    assert rust
    assert not found


def test_the_command_line_has_every_option_that_remedies_name():
    from rdfm.cli.app import app

    commands = [app.get_command(None, "convert"), *app.get_command(None, "patch").commands.values()]
    parameters = [
        each for command in commands for each in command.get_params(click.Context(command))
    ]
    flags = {flag for option in parameters for flag in (*option.opts, *option.secondary_opts)}
    sources = [path.read_text("utf-8") for path in ROOT.glob("crates/*/src/**/*.rs")]
    found = {
        declared
        for text in sources
        for declared in re.findall(r'Remedy::(read|write|stage)\(\s*"(\w+)"', text)
    }
    # Of the limits, only the steps belong to a stage.
    found |= {
        ("stage" if name == "max_steps" else "read", name)
        for text in sources
        for name in re.findall(r'"(max_\w+)",?\s*\)', text)
    }
    assert {("write", "merge_graphs"), ("read", "max_depth")} < found
    for side, name in found:
        flag = Remedy(side, name, "true", "").render(render_for_command_line)
        assert flag is not None, name
        assert flag.strip() in flags


@pytest.mark.parametrize(
    ("format", "word"),
    [
        ("nq", "message"),
        ("rdf-patch", "patch"),
        ("jelly-patch", "patch"),
        ("results-json", "row"),
        ("patches", "patch"),
        ("arrow", "message"),
        ("a missing plug-in", "message"),
        (None, "message"),
    ],
)
def test_the_message_index_is_named_after_the_kind(format, word):
    for error in (
        errors.DecodeError("wrong", format=format, message_index=3),
        errors.EncodeError("wrong", format=format, message_index=3),
    ):
        assert str(error).endswith(f"wrong ({word} 3)")


def test_no_representation_of_an_error_contains_marks_of_options():
    errors = []
    for options in ({"skip": -1}, {"sample": "x"}, {"messages": "x"}, {"take": 1, "sample": "1%"}):
        with pytest.raises(RdfmError) as raised:
            rdfm.convert(b"", io.BytesIO(), from_format="nq", to="nq", **options)
        errors.append(raised.value)
    with pytest.raises(RdfmError) as raised:
        rdfm.convert(
            b"<x:a> <x:b> <x:c> .\n# @message\n<x:a> <x:b> <x:c> .\n",
            io.BytesIO(),
            from_format="nq",
            to="nq",
            message_per_file=True,
        )
    errors.append(raised.value)
    for error in errors:
        texts = (str(error), repr(error), reason("", error))
        assert not any("\x1f" in text for text in texts), texts


@pytest.mark.parametrize(
    "url",
    [
        "https://me:sec/ret@host/a.nq",
        "https://me:sec?ret@host/a.nq",
        "https://me:sec#ret@host/a.nq",
        "https://me:s/e@c/ret@host/a.nq",
        "ftp://me:secret@host/a.nq",
    ],
)
def test_a_password_in_a_url_is_not_shown(url):
    assert redact_url(url) == f"{url.partition('://')[0]}://host/a.nq"
    with pytest.raises(OptionError) as raised:
        rdfm.convert(b"", url, from_format="nq", to="nq")
    assert "ret" not in str(raised.value)
    if url.startswith("https"):
        with pytest.raises(OptionError) as raised:
            rdfm.open_log(url)
        assert "ret" not in str(raised.value)
        assert "'s" not in str(raised.value)


def test_a_deeply_nested_json_file_is_an_error(tmp_path):
    nested = "[" * 100_000
    (tmp_path / "log.nq").touch()
    (tmp_path / "log.nq.state.json").write_text(nested)
    with pytest.raises(MirrorError, match="is not the state of a mirror"):
        MirrorState.load(str(tmp_path / "log.nq"))
    (tmp_path / "index.json").write_text(nested)
    with pytest.raises(OptionError, match="cannot be read"):
        ContextLoader(contexts=str(tmp_path))
    with pytest.raises(OptionError, match="must be a JSON object"):
        rdfm.create_log(tmp_path / "out.ttl", prefixes=nested)
