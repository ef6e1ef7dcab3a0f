"""`split_by` writes a folder with one log for each key."""

import gzip
import os
import threading
from pathlib import Path

import pytest
from processes import wait_for

import rdfm
from rdfm import EncodeError, OptionError, convert, formats
from rdfm.logs.write import keyed_append
from rdfm.logs.write.keyed import file_name

TIME = "<http://www.w3.org/ns/sosa/resultTime>"
XSD = "http://www.w3.org/2001/XMLSchema#"


def with_time(subject: str, time: str, kind: str = "dateTime", predicate: str = TIME) -> str:
    return f'<http://e/{subject}> {predicate} "{time}"^^<{XSD}{kind}> .\n'


def with_value(subject: str, value: str, graph: str = "") -> str:
    return f"<http://e/{subject}> <http://e/p> {value} {graph}.\n"


def split_log(tmp_path: Path, messages: list[str], key: str, format: str = "nq", **options):
    log = "# @message\n".join(messages).encode()
    options = {"from_format": "nq", "to": format} | options
    summary = convert(log, f"{tmp_path}/out/", split_by=key, **options)
    return summary, {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}


def subjects(path: Path) -> list[str]:
    with rdfm.open_log(path) as log:
        return [str(message.quads[0].subject.value) for message in log]


def test_each_day_has_a_file(tmp_path):
    messages = [
        with_time("a", "2026-11-01T23:30:00Z"),
        with_time("b", "noon"),  # not a time
        with_time("c", "2026-11-02", "date"),
        with_time("d", "2026-11-02T00:30:00+01:00"),
        "",
        with_time("e", "2026-11-02T12:00:00Z"),
    ]
    summary, files = split_log(tmp_path, messages, "day")
    assert sorted(files) == ["2026-11-01.nq", "2026-11-02.nq", "other.nq"]
    assert subjects(tmp_path / "out/2026-11-01.nq") == ["http://e/a", "http://e/d"]
    assert files["2026-11-02.nq"].decode() == messages[2] + "# @message\n" + messages[5]
    assert summary.messages == 6
    assert summary.notes == ("the messages without a day are in other.nq",)


def test_each_month_has_a_file_and_a_predicate_replaces_the_defaults(tmp_path):
    messages = [
        with_time("a", "2025-12-31T23:59:59Z", predicate="<http://e/t>")
        + with_time("a", "2026-03-01T00:00:00Z"),
        with_time("b", "2026-01-01", "date", predicate="<http://e/t>"),
        with_time("c", "2026-01-01", "date"),
    ]
    _, files = split_log(tmp_path, messages, "month:<http://e/t>")
    assert sorted(files) == ["2025-12.nq", "2026-01.nq", "other.nq"]


def test_the_time_property_can_be_declared_in_the_log(tmp_path):
    predicate = "<http://e/t>"
    declaration = f"<http://e/log> <https://w3id.org/ldes#timestampPath> {predicate} .\n"
    messages = [
        with_time("early", "2026-01-01", "date", predicate),
        declaration,
        with_time("late", "2026-01-02", "date", predicate),
    ]
    _, files = split_log(tmp_path, messages, "day")
    assert sorted(files) == ["2026-01-02.nq", "other.nq"]


def test_the_first_value_selects_the_file_and_a_note_reports_several_values(tmp_path):
    messages = [
        with_value("a", '"x"') + with_value("a", '"y"'),
        with_value("b", '"y"') + with_value("b", '"y"'),
        with_value("c", "_:b") + with_value("c", '"x"'),
    ]
    summary, files = split_log(tmp_path, messages, "value:<http://e/p>")
    assert sorted(files) == ["x.nq", "y.nq"]
    assert subjects(tmp_path / "out/x.nq") == ["http://e/a", "http://e/c"]
    assert summary.notes == (
        "1 message has several values of the predicate; the first one is used",
    )


def test_prefixes_come_from_the_log_or_the_option(tmp_path):
    log = (
        b"PREFIX ex: <http://e/>\nex:a ex:p 1 .\n# @message\nPREFIX ex: <http://f/>\nex:a ex:p 2 ."
    )
    convert(log, f"{tmp_path}/log/", from_format="ttl", to="nt", split_by="value:ex:p")
    assert sorted(path.name for path in (tmp_path / "log").iterdir()) == ["1.nt", "2.nt"]
    arguments = {"from_format": "ttl", "to": "nt", "prefixes": {"ex": "http://f/"}}
    convert(log, f"{tmp_path}/option/", split_by="value:ex:p", **arguments)
    assert sorted(path.name for path in (tmp_path / "option").iterdir()) == ["2.nt", "other.nt"]
    with pytest.raises(OptionError, match="no log declares the prefix no:"):
        convert(log, f"{tmp_path}/no/", from_format="ttl", to="nt", split_by="value:no:p")


def test_files_of_graphs_are_named_after_the_graphs(tmp_path):
    messages = [
        with_value("a", '"1"', "<http://e/g> "),
        with_value("b", '"1"'),
        with_value("c", '"1"', "_:g "),
    ]
    _, files = split_log(tmp_path, messages, "graph")
    assert sorted(files) == ["default.nq", "http%3A%2F%2Fe%2Fg.nq", "other.nq"]


def test_different_keys_have_different_files_on_every_file_system(tmp_path):
    values = [
        '"a"', '"A"', '"a"@en', f'"a"^^<{XSD}token>', "<http://e/a>", '"http://e/a"', '"other"', '""',
        '".."', '"../../x"', '"con"', '"' + "é" * 200 + '"', '"' + "é" * 201 + '"',
    ]  # fmt: skip
    messages = [with_value(str(number), text) for number, text in enumerate(values)]
    messages += ["", ""]  # the delimiter at the end does not begin a message
    _, files = split_log(tmp_path, messages, "value:<http://e/p>")
    assert len({name.casefold() for name in files}) == len(values) + 1
    assert all(len(name.encode()) <= 255 and not name.startswith(".") for name in files)
    assert files["other.nq"] == b"# @message\n# @message\n"
    assert all(
        content.count(b"<http://e/p>") == 1 for name, content in files.items() if name != "other.nq"
    )


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("A12", "A12.nq"),
        (".hidden", "%2Ehidden.nq"),
        ("-rf", "%2Drf.nq"),
        ("a~b", "a%7Eb.nq"),
        ("nul", "%6Eul.nq"),
        ("COM1.x", "%43OM1.x.nq"),
        ("_x", "%5Fx.nq"),
        ("", "%.nq"),
    ],
)  # fmt: skip
def test_file_names_are_escaped(text, name):
    assert file_name(text, ".nq", b"key") == name


@pytest.mark.parametrize("format", ["nt", "nq", "ttl", "trig", "jelly", "ndjsonld", "rdf-protobuf"])
@pytest.mark.parametrize("compression", ["none", "gzip"])
def test_closed_files_are_continued(tmp_path, format, compression):
    messages = [with_value(f"s{number}", f'"{number % 7}"') for number in range(100)]
    options = {"format": format, "compression": compression}
    _, files = split_log(tmp_path, messages, "value:<http://e/p>", max_open=2, **options)
    assert len(files) == 7
    found = {}
    for name in files:
        found[name[0]] = subjects(tmp_path / "out" / name)
    assert found == {
        str(key): [f"http://e/s{number}" for number in range(key, 100, 7)] for key in range(7)
    }
    if format in ("nt", "nq") and compression == "none":
        _, all_open = split_log(
            tmp_path, messages, "value:<http://e/p>", max_open=7, overwrite=True, **options
        )
        assert files == all_open
    if compression == "gzip":
        assert all(gzip.decompress(content) for content in files.values())


def test_empty_messages_stay_in_continued_files(tmp_path):
    keys = ['"a"', None, '"b"', None, None, '"a"', None, '"b"']
    messages = ["" if key is None else with_value("s", key) for key in keys]
    _, files = split_log(tmp_path, messages, "value:<http://e/p>", max_open=1)
    with rdfm.open_log(tmp_path / "out/other.nq") as log:
        assert len(list(log)) == 4
    _, expected = split_log(tmp_path, messages, "value:<http://e/p>", overwrite=True)
    assert files == expected


@pytest.mark.parametrize(("format", "options"), [("parquet", {}), ("nq", {"flat": True})])
def test_files_that_cannot_be_continued_stay_open(tmp_path, format, options):
    messages = [with_value("a", '"x"'), with_value("b", '"y"'), with_value("c", '"z"')]
    key = "value:<http://e/p>"
    with pytest.raises(EncodeError, match=r"more than 2 keys.*max_open=N.*message 2"):
        split_log(tmp_path, messages, key, format, max_open=2, keep_partial=True, **options)
    assert len(list((tmp_path / "out.partial").iterdir())) == 2
    _, files = split_log(tmp_path, messages, key, format, max_open=3, **options)
    assert len(files) == 3


def test_partial_files_contain_the_messages_before_an_error(tmp_path):
    messages = [
        with_value("a", '"x"'), with_value("b", '"y"'), with_value("c", '"x"', "<http://e/g> "), with_value("d", '"y"'),
    ]  # fmt: skip
    with pytest.raises(EncodeError, match="message 2"):
        split_log(tmp_path, messages, "value:<http://e/p>", "nt", keep_partial=True)
    assert not (tmp_path / "out").exists()
    partial = {path.name: path.read_text() for path in (tmp_path / "out.partial").iterdir()}
    assert partial == {"x.nt": messages[0], "y.nt": messages[1]}


def test_errors_for_single_message_formats_name_a_useful_remedy(tmp_path):
    messages = [with_value("a", '"x"'), with_value("b", '"x"')]
    with pytest.raises(
        EncodeError, match=r'format="nq" or "jelly".*writes files of several'
    ) as error:
        split_log(tmp_path, messages, "value:<http://e/p>", "jsonld")
    assert "split_messages" not in str(error.value)


@pytest.mark.parametrize("options", [{"split_by": "value:<http://e/p>"}, {"split_messages": 1}, {}])
def test_omitted_namespaces_are_counted_once(tmp_path, options):
    prefixes = "PREFIX e: <http://e/>\nPREFIX f: <http://f/>\n"
    log = prefixes + "# @message\n".join(f'e:s e:p "{key}" .\n' for key in "abac")
    log += "# @message\nPREFIX f: <http://g/>\ne:s e:p e:o .\n"
    arguments = {"from_format": "trig", "to": "nq"}
    expected = convert(log.encode(), tmp_path / "log.nq", **arguments).dropped
    assert expected == {"namespaces": 3}
    assert convert(log.encode(), f"{tmp_path}/out/", **arguments, **options).dropped == expected


@pytest.mark.parametrize(
    ("target", "options", "text"),
    [
        ("out.nq", {"split_by": "day"}, "split_by requires a folder"),
        ("out.tar", {"split_by": "day"}, "split_by requires a folder"),
        ("out/", {"split_by": "day", "split_messages": 1}, "split_by and split_messages"),
        ("out/", {"split_by": "day", "split_bytes": 1}, "split_by and split_bytes"),
        ("out/", {"split_by": "graph", "append": True}, "append.*split_by must be day or month"),
        ("out/", {"split_by": "value:<http://e/p>", "append": True}, "must be day or month"),
        ("out/", {"split_by": "day", "append": True, "overwrite": True}, "overwrite replaces"),
        ("out/", {"split_by": "day", "append": True, "skolemize": "http://e"}, "cannot be combined"),
        ("out", {"split_by": "day", "append": True}, "split_by requires a folder"),
        ("out/", {"max_open": 1}, "split_by=KEY splits the log"),
        ("out/", {"split_by": "value"}, "must be graph, value:PREDICATE"),
        ("out/", {"split_by": "graph:x"}, "must be graph, value:PREDICATE"),
        ("out/", {"split_by": "year"}, "must be graph, value:PREDICATE"),
        ("out/", {"split_by": 'value:"a"'}, "split_by: .* is not an IRI"),
        ("out/", {"split_by": "value:5"}, "split_by: .* is not an IRI"),
        ("out/", {"split_by": "value:a b"}, "split_by: 'a b' is not an IRI"),
        ("out/", {"split_by": "day", "max_open": 0}, "max_open"),
    ],
)  # fmt: skip
def test_invalid_split_options_are_rejected(tmp_path, target, options, text):
    with pytest.raises(OptionError, match=text):
        convert(b"", f"{tmp_path}/{target}", from_format="nq", to="nq", **options)
    assert not list(tmp_path.iterdir())


def test_only_messages_are_split_by_key(tmp_path):
    with pytest.raises(OptionError, match="only messages can be split by key"):
        convert(
            b"A <x:s> <x:p> <x:o> .\n",
            f"{tmp_path}/out/",
            from_format="rdf-patch",
            to="rdf-patch",
            split_by="graph",
        )


# --- appending ---


def append_days(tmp_path: Path, days: str, name: str = "nq", **options):
    """Appends one message for each digit: the day of the month."""
    log = "# @message\n".join(
        with_time(f"s{at}", f"2026-11-0{day}T09:00:00Z") for at, day in enumerate(days)
    )
    options = {"from_format": "nq", "to": name, "split_by": "day"} | options
    return convert(log.encode(), f"{tmp_path}/out/", append=True, **options)


def days_of(tmp_path: Path) -> dict[str, int]:
    """Returns the number of messages in each file."""
    files = sorted(path for path in (tmp_path / "out").iterdir() if path.suffix != ".append")
    return {path.name.removeprefix("2026-11-"): len(subjects(path)) for path in files}


@pytest.mark.parametrize("options", [{}, {"max_open": 1}, {"sync": True}, {"compression": "gzip"}])
@pytest.mark.parametrize("name", ["nq", "trig", "jelly", "ndjsonld", "rdf-protobuf"])
def test_several_runs_append_to_the_files_of_the_days(tmp_path, name, options):
    for days in ("1123", "321", "4"):
        summary = append_days(tmp_path, days, name, **options)
        assert summary.messages == len(days)
        assert summary.bytes_out > 0
    suffix = formats.find(name).spec.suffixes[0] + (".gz" if "compression" in options else "")
    expected = {f"0{day}{suffix}": count for day, count in ((1, 3), (2, 2), (3, 2), (4, 1))}
    assert days_of(tmp_path) == expected


def test_a_failed_run_appends_nothing_to_its_open_files(tmp_path):
    append_days(tmp_path, "12")
    before = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    log = with_time("a", "2026-11-01T09:00:00Z") + "# @message\n" + "broken"
    with pytest.raises(rdfm.DecodeError):
        convert(
            log.encode(),
            f"{tmp_path}/out/",
            from_format="nq",
            to="nq",
            split_by="day",
            append=True,
        )
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == before


def test_a_file_of_the_folder_that_another_run_writes_is_rejected(tmp_path):
    append_days(tmp_path, "12")
    in_use = pytest.raises(OptionError, match=r"2026-11-02\.nq is in use by another process")
    with rdfm.create_log(tmp_path / "out" / "2026-11-02.nq", append=True), in_use:
        append_days(tmp_path, "12")
    assert days_of(tmp_path) == {"01.nq": 1, "02.nq": 1}


def test_files_without_new_messages_are_committed_and_closed(tmp_path, monkeypatch):
    monkeypatch.setattr(keyed_append, "IDLE_SECONDS", 1)
    reading, writing = os.pipe()
    out = tmp_path / "out"
    with os.fdopen(reading, "rb") as given, os.fdopen(writing, "wb", buffering=0) as producer:
        options = {"from_format": "nq", "to": "nq", "split_by": "day"}
        capture = threading.Thread(
            target=convert,
            args=(given, f"{out}/"),
            kwargs={**options, "append": True, "commit_seconds": 1},
        )
        capture.start()
        for days in "1213":
            producer.write(with_time("a", f"2026-11-0{days}T09:00:00Z").encode() + b"# @message\n")
        wait_for(lambda: out.exists() and sum(days_of(tmp_path).values()) == 4)
        wait_for(lambda: not list(out.glob("*.append")))
        producer.write(with_time("b", "2026-11-01T09:00:00Z").encode())
        producer.close()
        capture.join(30)
    assert days_of(tmp_path) == {"01.nq": 3, "02.nq": 1, "03.nq": 1}
