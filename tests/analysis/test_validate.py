"""Findings of `validate`: errors and warnings with their positions, for every kind of input."""

import errno
import io
import os
import tarfile
from pathlib import Path

import pytest
import suites
from fixture_logs import LOGS, reading_options

import rdfm
from rdfm.analysis.validate_rules import RULES
from rdfm.logs.input import inputs
from rdfm.logs.positions import Lines

XSD = "http://www.w3.org/2001/XMLSchema#"
S = "<http://e/s> <http://e/p>"
GOOD = f"{S} <http://e/o> .\n"
DELIMITER = "# @message\n"


def found(data, format="nq", **options):
    """Returns severity, rule, message, line and column of each finding."""
    data = data.encode() if isinstance(data, str) else data
    checked = rdfm.validate(data, format, **options)
    return [
        (each.severity, each.rule, each.message_index, each.line, each.column) for each in checked
    ]


def converted(name, messages, **options):
    """Returns messages in N-Quads as a log in another format."""
    out = io.BytesIO()
    log = "\n# @message\n".join(messages).encode()
    rdfm.convert(log, out, from_format="nq", to=name, from_lenient=True, **options)
    return out.getvalue()


# --- errors ---


def test_a_clean_log_has_no_findings():
    checked = rdfm.validate((GOOD + DELIMITER + GOOD).encode(), "nq")
    assert list(checked) == []
    assert checked.ok
    assert checked.summary() == {
        "inputs": 1,
        "logs": 1,
        "messages": 2,
        "records": 2,
        "errors": 0,
        "warnings": 0,
        "rules": {},
        "omitted": {},
        "not_conforming": 0,
        "stopped": False,
    }


def test_every_error_in_a_log_is_reported():
    log = (
        GOOD + DELIMITER + "oops .\n" + DELIMITER + GOOD + DELIMITER + f"{S} .\n" + DELIMITER + GOOD
    )
    checked = rdfm.validate(log.encode(), "nq")
    errors = list(checked)
    assert [(each.rule, each.message_index, each.line, each.column) for each in errors] == [
        ("syntax", 1, 3, 1),
        ("syntax", 3, 7, 27),
    ]
    assert [each.byte_offset for each in errors] == [
        len(GOOD + DELIMITER),
        log.index(f"{S} .\n") + 26,
    ]
    assert (checked.messages, checked.errors, checked.rules) == (5, 2, {"syntax": 2})
    assert not checked.ok


def test_every_bad_line_is_reported_in_the_order_of_the_log():
    ill_typed = f'{S} "x"^^<http://www.w3.org/2001/XMLSchema#integer> .\n'
    dump = f"bad\n{GOOD}{ill_typed}worse\n{GOOD}{DELIMITER}bad\n"
    found = [
        (each.rule, each.line, each.message_index) for each in rdfm.validate(dump.encode(), "nq")
    ]
    assert found == [
        ("syntax", 1, 0),
        ("ill-typed-literal", 3, 0),
        ("syntax", 4, 0),
        ("syntax", 7, 1),
    ]
    # The last bad line may have been a delimiter.
    dump = f"bad\n{GOOD}bad {DELIMITER}bad\n"
    assert [each.line for each in rdfm.validate(dump.encode(), "nq")] == [1, 3]


@pytest.mark.parametrize("name", ["ttl", "trig"])
def test_errors_caused_by_earlier_errors_are_marked(name):
    log = (
        "oops .\n@prefix e: <http://e/> .\ne:s e:p e:o .\n"
        + DELIMITER
        + "e:s e:p e:o .\n"
        + DELIMITER
        + GOOD
    )
    checked = rdfm.validate(log.encode(), name)
    assert [(each.message_index, each.line, each.follows) for each in checked] == [
        (0, 1, False),
        (1, 5, True),
    ]
    assert checked.messages == 1


@pytest.mark.parametrize("name", ["nt", "nq", "ttl", "trig"])
def test_text_formats_resume_at_the_next_message(name):
    log = (
        GOOD + DELIMITER + "oops .\n" + DELIMITER + GOOD + DELIMITER + f"{S} .\n" + DELIMITER + GOOD
    )
    assert [each[:4] for each in found(log, name)] == [
        ("error", "syntax", 1, 3),
        ("error", "syntax", 3, 7),
    ]


def test_json_lines_and_yaml_documents_resume_at_the_next_message():
    line = '{"@id":"http://e/s","http://e/p":1}\n'
    assert [each[:4] for each in found(line + "oops\n" + line + "{]\n", "ndjsonld")] == [
        ("error", "syntax", 1, 2),
        ("error", "syntax", 3, 4),
    ]
    document = '"@id": http://e/s\nhttp://e/p: 1\n'
    log = document + "---\n*oops\n---\n" + document
    assert [each[:4] for each in found(log, "yamlld")] == [("error", "syntax", 1, 4)]


def test_piece_size_does_not_change_the_findings():
    invalid = f'{S} "x"^^<{XSD}int>, "{"y" * 300}", "a"@en-a .\n_:alice <http://e/p> 1 .\n'
    log = (DELIMITER.join([invalid, GOOD, "oops", invalid, "# @Message\n" + GOOD]) * 2).encode()
    expected = list(rdfm.validate(log, "trig"))
    assert len({each.rule for each in expected}) == 5
    for size in (1, 7, 100):
        pieces = io.BytesIO(log)
        pieces.read1 = lambda _, pieces=pieces, size=size: io.BytesIO.read(pieces, size)
        pieces.name = "bytes"
        found = list(rdfm.validate(pieces, "trig"))
        assert sorted(found, key=str) == sorted(expected, key=str)


def test_a_delimiter_in_a_long_string_does_not_end_a_message():
    log = f'{S} """a\n# @message\n"""@en_US .\n# @message\n{GOOD}'
    assert found(log, "trig") == [("error", "syntax", 0, 3, 4)]


def test_each_input_is_checked_despite_errors_in_others(tmp_path):
    (tmp_path / "a.nq").write_text("oops\n")
    (tmp_path / "b.nq").write_text(GOOD)
    (tmp_path / "c.jelly").write_bytes(b"\xff" * 40)
    (tmp_path / "d.foo").write_text("no log")
    names = ["a.nq", "missing.nq", "c.jelly", "d.foo", "b.nq"]
    checked = rdfm.validate([tmp_path / name for name in names])
    errors = list(checked)
    assert [(Path(each.source).name, each.rule) for each in errors] == [
        ("a.nq", "syntax"),
        ("missing.nq", "unreadable"),
        ("c.jelly", errors[2].rule),
        ("d.foo", "unknown-format"),
    ]
    assert errors[2].severity == "error"
    assert (checked.messages, checked.logs) == (1, 3)


def test_validation_of_folders_and_archives_resumes_at_the_next_log(tmp_path):
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "1.ttl").write_text("oops")
    (folder / "2.nq").write_text(GOOD)
    (folder / "3.bin").write_bytes(b"\0\1\2")
    with tarfile.open(tmp_path / "logs.tar", "w") as archive:
        archive.add(folder, "logs")
    for path, separator in ((folder, "/"), (tmp_path / "logs.tar", "!logs/")):
        checked = rdfm.validate(path)
        assert [(each.source, each.rule) for each in checked] == [
            (f"{path}{separator}1.ttl", "syntax"),
            (f"{path}{separator}3.bin", "unknown-format" if path == folder else "unsupported"),
        ]
        assert checked.messages == 1


def test_an_unreadable_file_in_a_folder_is_one_error(tmp_path, monkeypatch):
    for name in ("1.nq", "2.nq"):
        (tmp_path / name).write_text(GOOD)
    os.mkfifo(tmp_path / "3.nq")
    original_open = inputs._open

    def open_except_first(source, *rest):
        if str(source).endswith("1.nq"):
            raise PermissionError(errno.EACCES, "Permission denied", str(source))
        return original_open(source, *rest)

    monkeypatch.setattr(inputs, "_open", open_except_first)
    checked = rdfm.validate(tmp_path)
    assert [(Path(each.source).name, each.rule, each.text) for each in checked] == [
        ("1.nq", "unreadable", "Permission denied"),
        ("3.nq", "unreadable", inputs.NOT_PLAIN_FILE),
    ]
    assert checked.messages == 1
    with pytest.raises(PermissionError), rdfm.open_log(tmp_path) as log:
        list(log)


def test_a_folder_or_an_archive_without_logs_is_a_warning(tmp_path):
    (tmp_path / "empty").mkdir()
    with tarfile.open(tmp_path / "empty.tar", "w"):
        pass
    (tmp_path / "empty.nq").write_text("")  # a log without messages
    names = ["empty", "empty.tar", "empty.nq"]
    checked = rdfm.validate([tmp_path / name for name in names])
    assert [(Path(each.source).name, each.severity, each.rule) for each in checked] == [
        ("empty", "warning", "no-logs"),
        ("empty.tar", "warning", "no-logs"),
    ]
    assert (checked.logs, checked.messages) == (1, 0)


def test_a_truncated_log_is_an_error():
    log = converted("jelly", [GOOD, GOOD])
    assert [each[:2] for each in found(log[:-3], "jelly")] == [("error", "truncated")]


def test_a_message_above_the_limit_is_an_error():
    assert found(f'{S} "{"x" * 1000}" .', max_message_bytes=500)[0][:3] == ("error", "limit", 0)


def test_validation_stops_at_max_errors():
    checked = rdfm.validate(("oops\n" + DELIMITER).encode() * 10, "nq", max_errors=3)
    assert len(list(checked)) == 3
    assert checked.stopped


def test_patches_and_results_are_checked():
    patch = f"TX .\nA {S} <http://e/o> .\nTC .\nA oops .\n"
    assert [each[:2] for each in found(patch, "rdf-patch")] == [("error", "syntax")]
    patch = f'TX .\nA {S} "x"^^<{XSD}int> .\nTC .\n'
    assert found(patch, "rdf-patch") == [("warning", "ill-typed-literal", 0, 2, 29)]
    results = f'?a\n"x"^^<{XSD}int>\n'
    assert found(results, "results-tsv") == [("warning", "ill-typed-literal", 0, 2, 1)]


def test_findings_can_be_iterated_only_once():
    checked = rdfm.validate(GOOD.encode(), "nq")
    list(checked)
    with pytest.raises(ValueError, match="iterated only once"):
        list(checked)


# --- warnings ---


def test_ill_typed_literals_are_reported():
    log = f'{GOOD}{S} "1"^^<{XSD}integer>, "x" .\n{S} "1 "^^<{XSD}integer> .\n'
    assert found(log, "ttl") == [("warning", "ill-typed-literal", 0, 3, 27)]
    checked = rdfm.validate(log.encode(), "ttl")
    assert (
        next(iter(checked)).text
        == "'1 ' is not a valid xsd:integer: expected digits with an optional sign"
    )


def test_literals_in_triple_terms_are_checked():
    log = f'{S} <<( {S} "x"^^<{XSD}int> )>> .\n'
    assert found(log) == [("warning", "ill-typed-literal", 0, 1, 57)]


def test_malformed_language_tags_are_reported():
    log = f'{S} "a"@en-a .\n{S} "a"@de-CH-1996 .\n'
    assert found(log) == [("warning", "language-tag", 0, 1, 29)]


@pytest.mark.parametrize("name", ["jelly", "rdf-protobuf", "rdf-thrift"])
def test_relative_iris_in_binary_logs_are_reported(name):
    log = converted(name, ["<a> <http://e/p> <http://e/o> ."])
    assert [each[:2] for each in found(log, name)] == [("warning", "relative-iri")]


def test_iris_relative_to_the_file_are_reported(tmp_path):
    path = tmp_path / "a.ttl"
    path.write_text("<http://e/s> <http://e/p> <http://e/o>,\n  <other#it> .\n")
    (warning,) = rdfm.validate(path)
    assert (warning.rule, warning.line, warning.column) == ("relative-iri", 2, 3)
    assert "the IRI 'other#it' is relative to the file" in warning.text
    assert list(rdfm.validate(path, base="http://e/")) == []
    assert list(rdfm.validate(path.read_bytes(), "ttl", base="file:///tmp/a.ttl")) == []


def test_relative_iris_in_text_formats_are_reported():
    assert found(f"{GOOD}<a> <http://e/p> <a> .\n", lenient=True) == [
        ("warning", "relative-iri", 0, 2, 1)
    ]
    assert found(f"{GOOD}<a> <http://e/p> <a> .\n") == [("error", "syntax", 0, 2, 2)]


def test_comments_that_look_like_delimiters_are_reported():
    log = GOOD + "# @Message\n" + GOOD + DELIMITER + GOOD + "#message\n" + GOOD
    assert found(log) == [
        ("warning", "look-alike", None, 2, 1),
        ("warning", "look-alike", None, 6, 1),
    ]


def test_keys_without_an_iri_are_reported():
    lines = ['{"@id":"http://e/s","http://e/p":1}', '{"@id":"http://e/s","name":"x"}'] * 3
    checked = rdfm.validate("\n".join(lines).encode(), "ndjsonld")
    (finding,) = checked
    assert (finding.rule, finding.line, finding.column) == ("key-without-iri", 2, 21)
    assert "'name'" in finding.text
    assert checked.rules == {"key-without-iri": 3}
    assert checked.omitted == {"key-without-iri": 2}


def test_changed_prefixes_are_reported():
    log = "@prefix e: <http://a/> .\ne:s e:p e:o .\n" + DELIMITER
    log += (
        "@prefix e: <http://a/> .\ne:s e:p e:o .\n"
        + DELIMITER
        + "@prefix e: <http://b/> .\ne:s e:p e:o .\n"
    )
    assert found(log, "trig") == [("warning", "redeclared-namespace", 2, 7, 12)]
    # Each prefix is reported once, and each log has its own prefixes.
    assert len(found(log + DELIMITER + log, "trig")) == 1
    first, second = (f"@prefix e: <http://{each}/> .\ne:s e:p e:o .\n".encode() for each in "ab")
    assert list(rdfm.validate([first, second], "ttl")) == []


def test_labels_in_several_messages_are_reported():
    message = "_:alice <http://e/p> _:alice .\n"
    assert found(message + DELIMITER + GOOD + DELIMITER + message + DELIMITER + message) == [
        ("warning", "shared-blank-node", 2, 5, 1)
    ]
    # Labels that are numbered from 0 in each message are not reported.
    numbered = "_:b0 <http://e/p> _:b1 .\n"
    assert found(numbered + DELIMITER + numbered) == []
    assert (
        len(found("_:b17 <http://e/p> _:b18 .\n" + DELIMITER + "_:b18 <http://e/p> _:b19 .\n")) == 1
    )
    # These directives fail in readers without message support, so the messages cannot be merged by
    # mistake.
    directives = f'VERSION "1.2-messages"\n{message}MESSAGE\n{message}'
    assert found(directives) == []


def test_labels_in_flat_jelly_logs_are_shared_by_all_frames():
    messages = ["_:b0 <http://e/p> <http://e/o> ."] * 2
    flat = converted("jelly", messages, logical_type="flat_quads")
    assert found(flat, "jelly", frames="message")[0][:3] == ("warning", "shared-blank-node", 1)
    assert found(flat, "jelly") == []  # one message
    assert found(converted("jelly", messages, logical_type="datasets"), "jelly") == []


def test_warnings_beyond_max_warnings_are_only_counted():
    log = DELIMITER.join(f'{S} "x{n}"^^<{XSD}int> .\n' for n in range(50))
    checked = rdfm.validate(log.encode(), "nq", max_warnings=5)
    assert [each.message_index for each in checked] == [0, 1, 2, 3, 4]
    assert checked.warnings == 50
    assert checked.omitted == {"ill-typed-literal": 45}
    checked = rdfm.validate(log.encode(), "nq", max_warnings=0)
    assert list(checked) == []
    assert checked.warnings == 50


def test_a_term_is_reported_once_per_message():
    line = f'{S} "x"^^<{XSD}int> .\n'
    checked = rdfm.validate((line * 3 + DELIMITER + line).encode(), "nq").run()
    assert checked.rules == {"ill-typed-literal": 2}


def test_strict_turns_warnings_into_errors():
    log = f'{S} "x"^^<{XSD}int> .\n'
    assert found(log, strict=True) == [("error", "ill-typed-literal", 0, 1, 27)]
    checked = rdfm.validate(log.encode(), "nq", strict=True, max_warnings=0).run()
    assert (checked.errors, checked.warnings, checked.ok) == (1, 0, False)


def test_terms_of_a_message_in_parts_have_correct_lines():
    line = f'{S} "{"x" * 100}" .\n'
    ill_typed = f'{S} "x"^^<{XSD}int> .\n'
    log = line * 60_000 + ill_typed + line * 60_000 + f'{S} "y"^^<{XSD}int> .\n'
    assert [each[3:] for each in found(log)] == [(60_001, 27), (120_002, 27)]


def test_lines_are_counted_across_pieces():
    text = "a\nbé\n# c\n  _:b1 _:b\nee".encode()
    for size in (1, 2, 3, 100):
        lines = Lines()
        for at in range(0, len(text), size):
            lines.feed(text[at : at + size])
        assert lines.locate(0) == (1, 1)
        assert lines.locate(text.index(b"\n", 3)) == (2, 3)
        assert lines.locate(len(text)) == (5, 3)
        assert lines.message_start(5) == text.index(b"_:b1")
        assert lines.find(b"_:b", 0, None) == text.index(b"_:b\n")  # skips the longer label `_:b1`
        assert lines.find(b"_:b", 0, len(text) - 5) is None


# --- stream options ---


def jelly(**options):
    return converted("jelly", [f"{GOOD}"], **options)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"name_table": 5000}, "the name table is 5000, expected at most 4000"),
        ({"prefix_table": 151}, "the prefix table is 151, expected at most 150"),
        ({"physical_type": "triples", "logical_type": "graphs"}, "the physical type is triples"),
        ({"logical_type": "flat_quads"}, "the logical type is flat_quads, expected datasets"),
    ],
)
def test_logs_that_exceed_the_given_stream_options_are_reported(options, text):
    reference = jelly(logical_type="datasets", physical_type="quads", name_table=4000)
    accepted = {"logical_type": "datasets", "physical_type": "quads"}
    checked = rdfm.validate(jelly(**{**accepted, **options}), options_from=reference)
    findings = list(checked)
    assert {each.rule for each in findings} == {"stream-options"}
    assert any(each.text.startswith(text) for each in findings), findings
    assert list(rdfm.validate(jelly(**accepted, name_table=16), options_from=reference)) == []


def test_stream_options_need_a_jelly_log():
    with pytest.raises(
        rdfm.OptionError, match="options_from applies to jelly logs, but no input is"
    ):
        list(rdfm.validate(GOOD.encode(), "nq", options_from=jelly()))
    ill_typed = f'{S} "x"^^<{XSD}int> .\n'.encode()
    with pytest.raises(rdfm.OptionError, match="no input is in that format"):
        list(rdfm.validate(ill_typed, "nq", options_from=jelly()))
    with pytest.raises(rdfm.OptionError, match="has no stream options"):
        rdfm.validate(GOOD.encode(), "nq", options_from=GOOD.encode())
    with pytest.raises(rdfm.OptionError, match="cannot read options_from: missing"):
        rdfm.validate(GOOD.encode(), "nq", options_from="missing.jelly")


# --- invalid arguments ---


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"max_errors": 0}, "max_errors is 0, expected 1 or more"),
        ({"max_warnings": -1}, "max_warnings is -1"),
        ({"frames": "flat"}, "frames"),
        ({"nonsense": 1}, "nonsense"),
    ],
)
def test_invalid_arguments_are_rejected(options, text):
    with pytest.raises(rdfm.OptionError, match=text):
        list(rdfm.validate(GOOD.encode(), "nq", **options))


def test_validation_without_inputs_is_rejected():
    with pytest.raises(rdfm.OptionError, match="nothing to validate"):
        rdfm.validate([])


def test_options_apply_to_the_inputs_that_support_them():
    checked = rdfm.validate([GOOD.encode(), jelly()], frames="message")
    assert list(checked) == []


# --- complete folders ---


def test_fixtures_have_no_errors():
    for folder, paths in LOGS.items():
        for path in paths:
            checked = rdfm.validate(path, **reading_options(path)).run()
            assert checked.errors == 0, list(rdfm.validate(path, **reading_options(path)))
            assert checked.messages >= (folder != "empty-only"), path


def test_a_folder_of_valid_logs_has_errors_only_for_other_files(tmp_path):
    (tmp_path / "README.md").write_text("# Logs\n")
    paths = [*LOGS["basic"], *LOGS["prefixes"], *LOGS["nanopubs"]]
    for path in paths:
        copy = tmp_path / path.parent.name / path.name
        copy.parent.mkdir(exist_ok=True)
        copy.write_bytes(path.read_bytes())
    checked = rdfm.validate(tmp_path)
    errors = [each for each in checked if each.severity == "error"]
    assert [(Path(each.source).name, each.rule) for each in errors] == [
        ("README.md", "unknown-format")
    ]
    assert checked.summary()["logs"] == len(paths)


@pytest.mark.suites
def test_real_logs_have_no_errors():
    checked = rdfm.validate(suites.path("data"))
    errors = [each for each in checked if each.severity == "error"]
    assert [(Path(each.source).name, each.rule) for each in errors] == [
        ("README.md", "unknown-format")
    ]
    assert checked.messages >= 37


def test_each_rule_has_a_lowercase_name_and_a_sentence():
    for name, rule in RULES.items():
        assert name == name.lower()
        assert rule.text.endswith(".")


TRIPLE_TERM = "<http://e/s> <http://e/p> <<( <http://e/s> <http://e/p> <http://e/o> )>> .\n"
DIRECTION = '<http://e/s> <http://e/p> "a"@en--ltr .\n'


@pytest.mark.parametrize("name", ["nt", "nq", "ttl", "trig", "rdfxml"])
@pytest.mark.parametrize("content", [TRIPLE_TERM, DIRECTION])
@pytest.mark.parametrize("label", ["", "1.1", "1.2-basic", "1.2"])
def test_content_beyond_the_version_label_is_reported(name, content, label):
    log = f'VERSION "{label}"\n' * bool(label) + content * 2
    if name == "rdfxml":
        out = io.BytesIO()
        rdfm.convert(content.encode(), out, from_format="nq", to="rdfxml")
        written = f' rdf:version="{label}"' if label else ""
        log = out.getvalue().decode().replace(' rdf:version="1.2"', written)
    allowed = label in ("", "1.2") or (label == "1.2-basic" and content is DIRECTION)
    found = [each.rule for each in rdfm.validate(log.encode(), name)]
    assert found == ["beyond-version"] * (not allowed)
