"""Statistics equal a plain count in Python for each format, batch size and division into parts."""

from __future__ import annotations

import math
import pickle
import random
import re
import subprocess
import sys
from collections import Counter
from dataclasses import fields
from pathlib import Path

import patches as patch_logs
import pytest
import results as result_logs
import suites
from fixture_logs import LOGS, reading_options
from hypothesis import given, settings
from hypothesis import strategies as st
from logs import logs
from nquads import DIR_LANG_STRING, LANG_STRING, XSD_STRING
from support import as_batch, as_tuple, encode

import rdfm
from rdfm import MessageBatch, OptionError, PatchBatch, formats
from rdfm.analysis.statistics import Collector, Distinct, Names, Series, Sizes, Statistics

TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
BUILT_IN = (XSD_STRING, LANG_STRING, DIR_LANG_STRING)
CONTROLS = {*range(9), 11, 12, *range(14, 20)}
JELLY = {"generalized": True, "rdf_star": True}


class PlainCounts:
    """Computes the same counts as `statistics`, in the simplest way."""

    def __init__(self) -> None:
        self.series: dict[str, list] = {}
        self.distinct: dict[str, set] = {}
        self.occurrences: Counter[str] = Counter()
        self.names = {name: Counter() for name in ("datatypes", "languages", "predicates", "types")}
        self.names["namespaces"] = Counter()

    def count_term(self, term: tuple) -> None:
        kind = kind_of(term)
        self.occurrences[kind] += 1
        if term[0] == "iri":
            self.names["namespaces"][namespace(term[1])] += 1
        if term[0] == "literal":
            self.names["datatypes"][term[4]] += 1
            if term[2]:
                self.names["languages"][term[2]] += 1
        for part in term[1:] if term[0] == "triple" else ():
            self.count_term(part)

    def count_message(self, quads: list[tuple], scope: object) -> None:
        """Counts a message. `scope` identifies the scope of its blank nodes."""
        found: dict[str, set] = {}
        controls = triples = 0

        def count_position(term: tuple, position: str) -> None:
            nonlocal controls, triples
            found.setdefault(position, set()).add(term)
            found.setdefault(kind_of(term), set()).add(term)
            if term[0] == "literal":
                found.setdefault("literals", set()).add(term)
                controls += sum(ord(character) in CONTROLS for character in term[1])
                if term[4] not in BUILT_IN:
                    found.setdefault("datatypes", set()).add(term[4])
            if term[0] == "triple":
                triples += 1
                for part, name in zip(term[1:], ("subjects", "predicates", "objects"), strict=True):
                    count_position(part, name)

        for quad in quads:
            for term, position in zip(
                quad, ("subjects", "predicates", "objects", "graphs"), strict=True
            ):
                if term is None:
                    found.setdefault("graphs", set()).add(None)
                else:
                    count_position(term, position)
                    self.count_term(term)
            if quad[1][0] == "iri":
                self.names["predicates"][quad[1][1]] += 1
            if quad[1] == ("iri", TYPE) and quad[2][0] == "iri":
                self.names["types"][quad[2][1]] += 1
        for name in KINDS:
            terms = found.get(name, set())
            if name != "quoted_triples":
                self.series.setdefault(name, []).append(len(terms))
            scoped = {(term, scope) if is_scoped(term) else term for term in terms}
            self.distinct.setdefault(name, set()).update(scoped)
        self.series.setdefault("ascii_control_characters", []).append(controls)
        self.series.setdefault("quoted_triples", []).append(triples)
        self.series.setdefault("statements", []).append(len(quads))


KINDS = (
    *("iris", "blank_nodes", "literals", "simple_literals", "datatype_literals"),
    *("language_literals", "datatypes", "subjects", "predicates", "objects", "graphs"),
    "quoted_triples",
)


def kind_of(term: tuple) -> str:
    if term[0] == "literal":
        if term[2]:
            return "language_literals"
        return "simple_literals" if term[4] == XSD_STRING else "datatype_literals"
    return {"iri": "iris", "bnode": "blank_nodes", "triple": "quoted_triples"}[term[0]]


def is_scoped(term: object) -> bool:
    if not isinstance(term, tuple):
        return False
    return term[0] == "bnode" or (term[0] == "triple" and any(map(is_scoped, term[1:])))


def namespace(iri: str) -> str:
    for separators in ("#/", ":"):
        if found := max(map(iri.rfind, separators)) + 1:
            return iri[:found]
    return iri


def check_series(found: Series, values: list) -> None:
    if not values:
        assert (found.minimum, found.maximum, found.mean) == (None, None, None)
        return
    mean = sum(values) / len(values)
    deviation = math.sqrt(sum((value - mean) ** 2 for value in values) / len(values))
    assert (found.minimum, found.maximum) == (min(values), max(values))
    assert found.mean == pytest.approx(mean)
    assert found.standard_deviation == pytest.approx(deviation, abs=1e-6)
    if isinstance(values[0], int):
        assert found.sum == sum(values)


def check_sizes(found: Sizes, values: list[int]) -> None:
    check_series(found, values)
    if not values:
        assert (found.percentiles, found.histogram, found.median) == ({}, [], None)
        return
    ordered = sorted(values)
    for percent in (5, 25, 50, 75, 95, 99):
        expected = ordered[math.ceil(percent * len(ordered) / 100) - 1]
        reported = found.percentiles[f"p{percent}"]
        assert (
            reported == expected if expected < 4096 else expected * 0.9995 <= reported <= expected
        )
    assert found.median == found.percentiles["p50"]
    assert [count for _, _, count in found.histogram] == [
        sum(lower <= value <= upper for value in values) for lower, upper, _ in found.histogram
    ]
    assert sum(count for _, _, count in found.histogram) == len(values)
    for bar, next_bar in zip(found.histogram, found.histogram[1:], strict=False):
        assert bar[1] + 1 == next_bar[0]


def check_names(found: Names, expected: Counter) -> None:
    assert found.counts == dict(
        sorted(expected.items(), key=lambda item: (-item[1], item[0].encode()))
    )
    assert (found.number, found.others) == (len(expected), 0)


def check(found: Statistics, log: list[list[tuple]]) -> None:
    """Checks all statistics of a message log."""
    plain = PlainCounts()
    message_bytes = []
    for index, message in enumerate(log):
        unique = list(dict.fromkeys(message))
        plain.count_message(unique, index)
        message_bytes.append((len(encode("nq", [unique])) if unique else 0) + 8)
    assert (found.kind, found.messages) == ("messages", len(log))
    assert found.empty_messages == sum(not message for message in log)
    assert found.quads == sum(map(len, log))
    check_sizes(found.quads_per_message, list(map(len, log)))
    check_sizes(found.bytes_per_message, message_bytes)
    densities = [
        size / len(set(message))
        for size, message in zip(message_bytes, log, strict=True)
        if message
    ]
    check_series(found.series["byte_density"], densities)
    check_terms(found, plain)
    assert set(found.series) == {*plain.series, "byte_density"} or not log


def check_terms(found: Statistics, plain: PlainCounts) -> None:
    for name, values in plain.series.items():
        check_series(found.series[name], values)
    for name, terms in plain.distinct.items():
        assert found.distinct[name] == Distinct(len(terms), len(terms), len(terms)), name
    assert found.occurrences == {name: plain.occurrences[name] for name in found.occurrences}
    for name, counts in plain.names.items():
        check_names(getattr(found, name), counts)
    assert (found.approximate_messages, found.adds_per_patch is None) == (
        0,
        found.kind != "patches",
    )


def statistics_of(batches, top: int = 1000) -> Statistics:
    collector = Collector()
    for batch in batches:
        collector.add(batch)
    return collector.statistics(top=top)


def batches_of(name, data, size=1 << 20, parts="never", **options):
    """Yields the batches of a log that is fed in pieces."""
    decoder = formats.find(name).decoder(options, formats.Opening(parts))
    for start in range(0, len(data), size):
        decoder.feed(data[start : start + size])
        while (batch := decoder.next_batch()) is not None:
            yield batch
    decoder.finish()
    while (batch := decoder.next_batch()) is not None:
        yield batch


def one_by_one(batch):
    return [batch.slice(at, at + 1) for at in range(len(batch))]


@pytest.mark.slow
@given(logs(generalized=True))
@settings(deadline=None)
def test_statistics_equal_a_plain_count(log):
    batch = as_batch(log)
    found = statistics_of([batch])
    check(found, log)
    assert statistics_of(one_by_one(batch)) == found
    for name in ("nq", "jelly", "rdf-protobuf"):
        # The escaping of U+FFFE and U+FFFF depends on the input format and changes byte counts.
        if not log or re.search(r"\\uff(fe|ff)", ascii(log)):
            continue
        data = encode(name, log, **(JELLY if name == "jelly" else {}))
        repeated = statistics_of(
            batches_of(name, data, **({"generalized": True} if name == "nq" else {}))
        )
        assert repeated.to_dict() == found.to_dict() | {"prefixes": repeated.prefixes}, name


@st.composite
def logs_with_types(draw):
    """Draws logs in which subjects have types."""
    log = draw(logs(generalized=False, plain="tags"))
    type_iris = st.sampled_from([("iri", f"http://example.org/{name}#T") for name in "abc"])
    type_quads = st.tuples(
        st.sampled_from([("iri", "http://a/s"), ("bnode", "b")]), st.just(("iri", TYPE)), type_iris
    )
    for message in log:
        message.extend((*quad, None) for quad in draw(st.lists(type_quads, max_size=4)))
    return log


@given(logs_with_types())
@settings(deadline=None)
def test_types_are_counted(log):
    check(statistics_of([as_batch(log)]), log)


@given(patch_logs.patches(graphs=True))
@settings(deadline=None)
def test_statistics_of_patches_count_operations(log):
    batch = patch_logs.as_batch(log)
    found = statistics_of([batch])
    plain = PlainCounts()
    for patch in log:
        plain.count_message([row[1:] for row in patch if row[0] in "AD"], None)
    codes = Counter(row[0] for patch in log for row in patch)
    assert found.operations == codes
    assert (found.kind, found.quads) == ("patches", codes["A"] + codes["D"])
    check_sizes(found.quads_per_message, list(map(len, log)))
    for name, code in (("adds_per_patch", "A"), ("deletes_per_patch", "D")):
        counts = [sum(row[0] == code for row in patch) for patch in log]
        if log:
            check_sizes(getattr(found, name), counts)
    if log:
        check_terms(found, plain)
        assert "byte_density" not in found.series
        assert statistics_of(one_by_one(batch)) == found


@given(result_logs.results())
@settings(deadline=None)
def test_statistics_of_results_count_cells(log):
    variables, rows = log
    data = result_logs.encoded("results-thrift", variables, rows)
    found = rdfm.statistics(data, "results-thrift", top=1000)
    assert (found.kind, found.messages, found.quads) == ("results", len(rows), 0)
    bound_cells = [[cell for cell in row if cell is not None] for row in rows]
    check_sizes(found.quads_per_message, list(map(len, bound_cells)))
    assert found.empty_messages == sum(not row for row in bound_cells)
    assert [variable.name for variable in found.variables] == variables
    for at, variable in enumerate(found.variables):
        cells = [row[at] for row in rows if row[at] is not None]
        assert variable.bound == len(cells)
        assert variable.distinct.number == len(set(cells))
    plain = PlainCounts()
    for cell in (cell for row in bound_cells for cell in row):
        plain.count_term(cell)
    assert found.occurrences == {name: plain.occurrences[name] for name in found.occurrences}
    check_names(found.namespaces, plain.names["namespaces"])
    check_names(found.datatypes, plain.names["datatypes"])
    assert found.series == {}


# --- messages in parts ---


def large_message(quads: int, seed: int = 1) -> list[tuple]:
    """Returns a message with the given number of quads, many of them repeated."""
    generator = random.Random(seed)
    return [
        (
            ("bnode", f"b{generator.randrange(quads // 4 + 1)}"),
            ("iri", f"http://example.org/p{generator.randrange(20)}"),
            ("literal", str(generator.randrange(quads // 100 + 1)), None, None, XSD_STRING),
            ("iri", "http://example.org/g") if generator.random() < 0.5 else None,
        )
        for _ in range(quads)
    ]


@pytest.mark.slow
def test_a_message_in_parts_is_counted_as_one():
    log = [large_message(20), large_message(15_000), [], large_message(6_000, 2), large_message(3)]
    batches = list(parts_of(log))
    assert any(batch.continues for batch in batches)
    check(statistics_of(batches), log)
    check(statistics_of([as_batch(log)]), log)


def parts_of(log):
    return batches_of("nq", encode("nq", log), parts="always")


@pytest.mark.slow
def test_counts_of_a_message_with_many_terms_are_estimated():
    message = [
        (("iri", f"http://example.org/{number}"), ("iri", "http://e/p"), ("bnode", "b"), None)
        for number in range(150_000)
    ]
    message += message[:50_000]
    found = statistics_of(parts_of([message, message[:10]]))
    assert found.approximate_messages == 1
    assert found.quads_per_message.maximum == 200_000
    assert found.series["statements"].maximum == pytest.approx(150_000, rel=0.01)
    assert found.series["subjects"].maximum == pytest.approx(150_000, rel=0.01)
    assert found.series["subjects"].minimum == 10
    # A small message is counted exactly.
    assert statistics_of([as_batch([message[:10]])]).approximate_messages == 0


@pytest.mark.slow
def test_a_large_message_without_repetitions_has_an_exact_number_of_statements():
    message = [
        (("iri", f"http://example.org/{number}"), ("iri", "http://e/p"), ("bnode", "b"), None)
        for number in range(100_000)
    ]
    assert statistics_of(parts_of([message])).series["statements"].sum == 100_000


# --- distinct counts ---


@pytest.mark.parametrize("count", [65_000, 70_000, 300_000])
def test_distinct_counts_are_within_their_bounds(count):
    lines = "".join(
        f'<http://example.org/{number}> <http://example.org/p> "{number % 1000}" .\n# @message\n'
        for number in range(count)
    )
    found = rdfm.statistics((lines + lines[: len(lines) // 2]).encode(), "nq")
    iris = found.distinct["iris"]
    assert iris.lower <= count + 1 <= iris.upper
    assert (iris.lower == iris.upper) == (count + 1 + 1000 <= 65_536)
    assert abs(iris.number - count - 1) <= 0.01 * count
    assert found.distinct["predicates"].number == 1
    assert found.distinct["literals"].number == pytest.approx(1000, rel=0.01)
    assert found.namespaces.counts == {"http://example.org/": found.occurrences["iris"]}


@pytest.mark.slow
def test_bounds_are_two_standard_deviations():
    """About 19 of 20 logs are within the bounds; the probability of fewer than 15 is 2e-4."""
    within_bounds = 0
    for seed in range(20):
        count = 66_000 + 1500 * seed
        text = "".join(f"<urn:{seed}:{number}> <urn:p> <urn:p> .\n" for number in range(count))
        iris = rdfm.statistics(text.encode(), "nq").distinct["subjects"]
        within_bounds += iris.lower <= count <= iris.upper
    assert within_bounds >= 15


def test_estimates_do_not_depend_on_batch_boundaries():
    text = "".join(
        f"<urn:{number}> <urn:p> _:b .\n{'# @message' * (number % 9 == 0)}\n"
        for number in range(90_000)
    ).encode()

    first, second = (
        statistics_of(batches_of("nq", text, size, "always")) for size in (1 << 20, 10_007)
    )
    assert first == second


def test_names_beyond_the_table_size_are_counted_together():
    text = "".join(f"<urn:s> <urn:{number}/p> <urn:o> .\n" for number in range(20_000))
    found = rdfm.statistics(text.encode(), "nq", top=5)
    assert len(found.predicates.counts) == 5
    assert (found.predicates.number, found.predicates.others) == (16_384, 20_000 - 16_384)


# --- rdfm.statistics and the collector ---


def test_a_snapshot_covers_the_batches_added_before_it():
    log = [large_message(5, seed) for seed in range(10)]
    batch = as_batch(log)
    collector = Collector()
    collector.add(batch.slice(0, 4))
    snapshot = collector.statistics(top=1000)
    collector.add(batch.slice(4, 10))
    assert snapshot == statistics_of([as_batch(log[:4])])
    assert collector.statistics(top=1000) == statistics_of([batch])


def test_blank_nodes_of_different_logs_are_distinct(tmp_path):
    for name in ("a.nq", "b.nq"):
        (tmp_path / name).write_text("_:b <urn:p> <urn:o> .\n")
    found = rdfm.statistics(tmp_path)
    assert (found.logs, found.messages, found.distinct["subjects"].number) == (2, 2, 2)
    for name in ("a.rdfp", "b.rdfp"):
        (tmp_path / name).write_text("A _:b <urn:p> <urn:o> .\n")
        (tmp_path / name).with_suffix(".nq").unlink()
    found = rdfm.statistics(tmp_path)
    assert (found.logs, found.distinct["subjects"].number) == (2, 2)


def test_statistics_up_to_an_error_are_returned():
    found = rdfm.statistics(b"<urn:s> <urn:p> <urn:o> .\n# @message\n<urn:s> oops\n", "nq")
    assert (found.messages, found.quads) == (1, 1)
    assert "line 3" in found.error


def test_logs_of_different_kinds_are_rejected(tmp_path):
    (tmp_path / "a.nq").write_text("_:b <urn:p> <urn:o> .\n")
    (tmp_path / "b.rdfp").write_text("A _:b <urn:p> <urn:o> .\n")
    with pytest.raises(rdfm.OptionError, match="statistics of one kind at a time"):
        rdfm.statistics(tmp_path)


def test_progress_is_reported():
    reports = []
    rdfm.statistics(b"<urn:s> <urn:p> <urn:o> .\n", "nq", progress=reports.append)
    assert (reports[-1].messages, reports[-1].quads, reports[-1].bytes_in) == (1, 1, 26)
    with pytest.raises(rdfm.OptionError, match="progress must be a function"):
        rdfm.statistics(b"", "nq", progress=1)


def test_an_empty_log_has_no_averages():
    found = rdfm.statistics(b"", "jelly")
    assert found.messages == 0
    assert found.quads_per_message.mean is None
    assert found.to_html()
    assert found.to_rdf()


def test_control_characters_are_counted_like_riverbench():
    text = "".join(f"\\u{code:04X}" for code in range(33))
    found = rdfm.statistics(f'<urn:s> <urn:p> "{text}" .\n'.encode(), "nq")
    assert found.series["ascii_control_characters"].sum == len(CONTROLS) == 17


# --- complete files ---


def check_log(path, **options):
    """Checks the statistics of a log against a plain count and `inspect`. Returns its messages."""
    with rdfm.open_log(path, **options) as log:
        messages = [[tuple(map(as_tuple, quad)) for quad in message] for message in log]
    found = rdfm.statistics(path, top=1000, **options)
    check(found, messages)
    report = rdfm.inspect(path, **options)
    assert (found.error, report.error) == (None, None)
    assert (found.messages, found.quads) == (report.messages, report.quads)
    assert found.bytes == report.bytes
    # If quads repeat, `inspect` also counts the repetitions.
    if found.quads == found.series["statements"].sum:
        iris = {name for name in report.predicates if not name.startswith(('"', "_:"))}
        assert {name: report.predicates[name] for name in iris} == {
            name: found.predicates.counts[name] for name in iris
        }
    return messages


@pytest.mark.parametrize("folder", LOGS)
def test_statistics_of_fixtures_equal_a_plain_count(folder):
    for path in LOGS[folder]:
        check_log(path, **reading_options(path))


def test_a_flat_log_of_many_frames_is_counted_as_one_message(tmp_path):
    path = tmp_path / "flat.jelly"
    path.write_bytes(encode("jelly", [large_message(2000)], frames="flat", frame_rows=100))
    (message,) = check_log(path)
    assert len(message) == 2000
    assert rdfm.statistics(path, frames="message").messages > 10


@pytest.mark.suites
@pytest.mark.parametrize(
    ("dataset", "suffix", "statements", "graphs"),
    [
        ("nanopubs", "trig", 34, 4),
        ("officegraph", "ttl", 6, 1),
        ("osm2rdf-denmark", "ttl", None, 1),
    ],
)
def test_riverbench_samples_have_the_published_statistics(dataset, suffix, statements, graphs):
    """There are `statements` statements in message 0, and `graphs` graphs in each message."""
    paths = sorted(suites.path("data", "riverbench", dataset).glob(f"*.{suffix}"))
    assert len(paths) == 5
    for path in paths:
        check_log(path)
        assert rdfm.statistics(path).series["graphs"].maximum == graphs
    if statements:
        assert rdfm.statistics(paths[0]).series["statements"].sum == statements


@pytest.mark.suites
def test_statistics_of_real_logs_equal_a_plain_count():
    paths = [
        path
        for path in sorted(suites.path("data").rglob("*"))
        if path.suffix in (".jelly", ".gz", ".trig", ".ttl")
    ]
    assert len(paths) > 20
    for path in paths:
        check_log(path)


MEASURE = """
import resource, sys
import rdfm
found = rdfm.statistics(sys.stdin.buffer, "nq")
print(found.quads, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def nquads_pieces(kind: str, size: int):
    """Yields about `size` bytes of N-Quads: small messages with new terms, or one message."""
    start = 0
    while size > 0:
        lines = []
        for number in range(start, start + 1000):
            lines.append(
                f"<http://example.org/{number}> <http://example.org/p{number % 50000}/x>"
                f' "{number}"@en-{number % 100000} _:b{number} .\n'
            )
            if kind == "small" and number % 5 == 0:
                lines.append("# @message\n")
        piece = "".join(lines).encode()
        size -= len(piece)
        start += 1000
        yield piece


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["small", "one"])
def test_memory_does_not_grow_with_the_log(kind):
    """Peak memory is the same at 40 MB and at 160 MB."""
    peaks = []
    for size in (40_000_000, 160_000_000):
        process = subprocess.Popen(
            [sys.executable, "-c", MEASURE], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        for piece in nquads_pieces(kind, size):
            process.stdin.write(piece)
        out, _ = process.communicate()
        assert process.returncode == 0
        quads, peak_kibibytes = map(int, out.split())
        assert quads > size // 200
        peaks.append(peak_kibibytes * 1024)
    assert abs(peaks[1] - peaks[0]) < 20_000_000, peaks


# --- documentation ---


def test_the_documentation_names_all_fields():
    page = (Path(__file__).parents[2] / "docs/statistics.md").read_text("utf-8")
    documented = set(re.findall(r"^\| `([a-z_0-9]+)` \|", page, re.M))
    expected = {field.name for field in fields(Statistics)}
    expected |= {field.name for kind in (Sizes, Distinct, Names) for field in fields(kind)}
    found = rdfm.statistics(b"<urn:s> <urn:p> <urn:o> .", "nq")
    expected |= {*found.series, *found.distinct, *found.occurrences}
    expected |= {"name", "bound", "distinct"}
    assert expected - documented == set()
    assert documented - expected == set()


def test_merged_collectors_equal_a_single_collector(tmp_path):
    quads = [
        [
            rdfm.Quad(
                rdfm.BlankNode("b"), rdfm.Iri(f"http://e/p{n % 7}"), rdfm.Literal(f"{n % 50}")
            ),
            rdfm.Quad(rdfm.Iri(f"http://e/s{n}"), rdfm.Iri("http://e/p"), rdfm.BlankNode("b")),
        ][: n % 3]
        for n in range(1000)
    ]
    batches = [MessageBatch.from_messages(quads[at : at + 100]) for at in range(0, 1000, 100)]
    single = Collector()
    merged = Collector()
    for number, batch in enumerate(batches):
        single.add(batch)
        part = Collector(first=number << 40)
        part.add(batch)
        merged.merge(pickle.loads(pickle.dumps(part)))
    found, expected = (each.statistics(top=None).to_dict() for each in (merged, single))
    assert found["series"].pop("byte_density") == pytest.approx(
        expected["series"].pop("byte_density")
    )
    assert found == expected
    with pytest.raises(ValueError, match="not statistics from this version"):
        merged._counter.merge(b"\x07")
    patches = Collector()
    patches.add(PatchBatch.from_patches([[]]))
    with pytest.raises(OptionError, match="contains patches, but earlier"):
        merged.merge(patches)


def test_merged_estimates_are_within_their_bounds():
    merged = Collector()
    for number in range(4):
        part = Collector(first=number << 40)
        for start in range(0, 30_000, 10_000):
            # Each collector has 10,000 terms in common with the next one.
            terms = range(number * 20_000 + start, number * 20_000 + start + 10_000)
            part.add(
                MessageBatch.from_messages(
                    [rdfm.Quad(*[rdfm.Iri(f"http://e/{n}")] * 3)] for n in terms
                )
            )
        merged.merge(part)
    found = merged.statistics().distinct["iris"]
    assert found.lower <= 90_000 <= found.upper
    assert abs(found.number - 90_000) < 900
    assert merged.statistics().messages == 120_000
