"""A filter keeps the same messages as a loop over all quads, for any batch size."""

import io
import re
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rdfm
from rdfm import OptionError

XSD = "http://www.w3.org/2001/XMLSchema#"
IRIS = [f"<http://{host}/{name}>" for host in ("one", "two") for name in "ab"]
TIMES = {
    f'"2026-06-01"^^<{XSD}date>': datetime(2026, 6, 1, tzinfo=UTC),
    f'"2026-06-01T10:00:00"^^<{XSD}dateTime>': datetime(2026, 6, 1, 10, tzinfo=UTC),
    f'"2026-06-01T10:00:00+02:00"^^<{XSD}dateTime>': datetime(2026, 6, 1, 8, tzinfo=UTC),
    f'" 2026-06-02T00:00:00Z "^^<{XSD}dateTime>': datetime(2026, 6, 2, tzinfo=UTC),
}
LITERALS = ['"x"', '"xy"', '"X"@en', '"X"@de', f'"5"^^<{XSD}integer>', f'"5.0"^^<{XSD}decimal>']
OBJECT_TEXTS = [
    *LITERALS,
    *TIMES,
    f'"noon"^^<{XSD}dateTime>',
    '"2026-06-01"',
    '<<( <http://one/a> <http://two/b> "x" )>>',
]
QUADS = st.tuples(
    st.sampled_from(IRIS),
    st.sampled_from(IRIS),
    st.sampled_from([*IRIS, *OBJECT_TEXTS]),
    st.sampled_from([None, *IRIS[:2]]),
)
# Logs. Each message is a pair: the namespace that it declares for `ex:`, or None; and its quads.
MESSAGES = st.lists(
    st.tuples(
        st.sampled_from([None, None, "http://one/", "http://two/"]), st.lists(QUADS, max_size=4)
    ),
    max_size=6,
)
PREFIXED_NAMES = st.sampled_from(["ex:a", "ex:b", "given:a"])
TERMS = st.sampled_from([*IRIS, *LITERALS, "5", "5.0"]) | PREFIXED_NAMES
TIME_BOUNDS = st.sampled_from(["2026-06-01", "2026-06-01T08:00:00Z", "2026-06-01T12:00:00+02:00"])


@st.composite
def filter_arguments(draw):
    """Draws the arguments of a filter: at least one criterion, and options."""
    criteria = draw(
        st.fixed_dictionaries(
            {},
            optional={
                "subject": TERMS,
                "predicate": TERMS,
                "object": TERMS,
                "graph": st.sampled_from(["default", *IRIS[:2]]) | PREFIXED_NAMES,
                "any": TERMS | st.lists(TERMS, min_size=1, max_size=2),
                "contains": st.sampled_from(["x", "X", "5", "-06-"]),
                "regex": st.sampled_from(["^x$", "(?i)x", r"\d"]),
            },
        )
    )
    if not criteria or draw(st.booleans()):
        criteria["time"] = draw(st.sampled_from(["<http://one/a>", "ex:a"]))
        bounds = draw(st.sampled_from([("after",), ("before",), ("after", "before")]))
        criteria |= {name: draw(TIME_BOUNDS) for name in bounds}
    return criteria | {name: True for name in ("invert", "quads") if draw(st.booleans())}


def written(messages):
    """Returns the log as TriG."""
    texts = []
    for iri, quads in messages:
        lines = [] if iri is None else [f"PREFIX ex: <{iri}>"]
        for subject, predicate, object, graph in quads:
            triple = f"{subject} {predicate} {object} ."
            lines.append(triple if graph is None else f"GRAPH {graph} {{ {triple} }}")
        texts.append("\n".join(lines))
    # An extra delimiter if the first message is empty, and a delimiter after the last message.
    first = [""] if messages and not messages[0][1] else []
    return "\n# @message\n".join([*first, *texts, ""]).encode() if texts else b""


def is_term(quad_term, criterion, namespaces):
    text = {"5": LITERALS[4], "5.0": LITERALS[5]}.get(criterion, criterion)
    prefix, _, local = text.partition(":")
    if prefix in ("ex", "given"):
        return prefix in namespaces and quad_term == f"<{namespaces[prefix]}{local}>"
    return quad_term == text


def matches(quad, criteria, namespaces):
    """Whether a quad matches all criteria except the time."""
    parts = dict(zip(("subject", "predicate", "object", "graph"), quad, strict=True))
    for name, part in parts.items():
        criterion = criteria.get(name)
        if criterion == "default" and name == "graph":
            if part is not None:
                return False
        elif criterion is not None and not is_term(part, criterion, namespaces):
            return False
    all_terms = [
        *quad,
        *(re.findall(r"<[^<>() ]+>|\"x\"", quad[2]) if quad[2].startswith("<<(") else ()),
    ]
    terms = criteria.get("any", [])
    for criterion in [terms] if isinstance(terms, str) else terms:
        if not any(is_term(part, criterion, namespaces) for part in all_terms):
            return False
    lexical = re.match('"([^"]*)"', quad[2])
    for name, found in (
        ("contains", str.__contains__),
        ("regex", lambda text, regex: re.search(regex, text)),
    ):
        if name in criteria and not (lexical and found(lexical[1], criteria[name])):
            return False
    return True


def in_time(quad, criteria, namespaces):
    moment = TIMES.get(quad[2])
    if moment is None or not is_term(quad[1], criteria["time"], namespaces):
        return False
    bounds = {
        name: datetime.fromisoformat(criteria[name])
        for name in ("after", "before")
        if name in criteria
    }
    bounds = {
        name: time if time.tzinfo else time.replace(tzinfo=UTC) for name, time in bounds.items()
    }
    return (
        bounds.get("after", moment) <= moment
        and not bounds.get("before", datetime.max.replace(tzinfo=UTC)) <= moment
    )


def expected_messages(messages, criteria):
    """Yields the index and quads of each expected message."""
    namespaces = {"given": "http://one/"}
    tests = []
    if criteria.keys() & {"subject", "predicate", "object", "graph", "any", "contains", "regex"}:
        tests.append(matches)
    if "time" in criteria:
        tests.append(in_time)
    for index, (iri, quads) in enumerate(messages):
        namespaces |= {} if iri is None else {"ex": iri}
        matching = all(any(test(quad, criteria, namespaces) for quad in quads) for test in tests)
        if not criteria.get("quads"):
            if matching != criteria.get("invert", False):
                yield index, quads
            continue
        is_selected = [matching and tests[0](quad, criteria, namespaces) for quad in quads]
        remaining = [
            quad
            for quad, each in zip(quads, is_selected, strict=True)
            if each != criteria.get("invert", False)
        ]
        if remaining:
            yield index, remaining


@settings(max_examples=200)
@given(messages=MESSAGES, criteria=filter_arguments(), size=st.sampled_from([1, 2, 100]))
def test_a_filter_equals_a_loop_over_quads(messages, criteria, size):
    data = written(messages)
    criteria_text = str(criteria)
    with rdfm.open_log(data, "trig", batch_messages=size) as log:
        filtered = log.filter(**criteria, prefixes={"given": "http://one/"})
        if messages and "'ex:" in criteria_text and all(iri is None for iri, _ in messages):
            with pytest.raises(OptionError, match="no log declares the prefix ex:"):
                list(filtered)
            return
        found = [
            (
                message.message_index,
                [
                    tuple(
                        None if term is None else str(term)
                        for term in (q.subject, q.predicate, q.object, q.graph)
                    )
                    for q in message
                ],
            )
            for message in filtered
        ]
    assert found == list(expected_messages(messages, criteria))


# Numbers of quads of messages; those with more than about 10,000 are read in several parts.
SIZES = st.sampled_from([0, 1, 3, 9_000, 25_000, 40_000])
# Where matching quads are: shares of the message.
POSITIONS = st.lists(st.sampled_from([0.0, 0.3, 0.5, 0.9, 1.0]), max_size=2)


@settings(max_examples=15, deadline=None)
@given(
    messages=st.lists(st.tuples(SIZES, POSITIONS), min_size=1, max_size=4),
    invert=st.booleans(),
)
def test_quads_of_messages_in_parts_are_selected_as_in_complete_messages(messages, invert):
    texts = []
    for size, positions in messages:
        matching = {int(position * (size - 1)) for position in positions}
        texts.append(
            "".join(
                f"<x:s> <x:{'q' if number in matching else 'p'}> <x:{number}> .\n"
                for number in range(size)
            )
        )
    data = "# @message\n".join([*texts, ""]).encode()
    criteria = {"predicate": "<x:q>", "quads": True, "invert": invert}
    with rdfm.open_log(data, "nq") as log:
        complete = {
            message.message_index: list(map(str, message)) for message in log.filter(**criteria)
        }
    found, is_open = {}, False
    with rdfm.open_log(data, "nq", parts=True) as log:
        for batch in log.filter(**criteria).batches():
            assert batch.continued == is_open
            is_open = batch.continues
            for message in batch:
                found.setdefault(message.message_index, []).extend(map(str, message))
    assert not is_open
    assert found == complete
    with rdfm.open_log(data, "nq", rows="quads") as log:
        rows = log.filter(**criteria).to_arrow().to_pydict()
    assert rows["message_index"] == [index for index, quads in complete.items() for _ in quads]
    assert rows["object"] == [quad.split()[2] for quads in complete.values() for quad in quads]
    limited = {"from_format": "nq", "max_message_bytes": 1 << 20}
    counts = rdfm.filter(data, **limited, **criteria)
    assert (counts.messages, counts.quads) == (len(complete), len(rows["object"]))
    with io.BytesIO() as output:
        rdfm.filter(data, output, to="nq", **limited, **criteria)
        written_again = list(rdfm.open_log(output.getvalue(), "nq", dialect="comment"))
    assert [list(map(str, message)) for message in written_again] == list(complete.values())
