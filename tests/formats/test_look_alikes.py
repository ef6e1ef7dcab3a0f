"""Comments that look like delimiters are counted and reported for any piece size."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rdfm
from rdfm import formats
from rdfm.formats import Opening

TEXTS = ["nt", "nq", "ttl", "trig"]
Q = "<a:s> <a:p> <a:o> ."
V = 'VERSION "1.2-messages"'


def notes(name, log, size=0, **options):
    """Feeds a log in pieces and skips errors. Returns the decoder's notes."""
    decoder = formats.find(name).Decoder(**options)
    data, recovering, finished = log.encode(), False, False
    pieces = [data[at : at + size] for at in range(0, len(data), size)] if size else [data]
    for piece in [*pieces, None]:
        if piece is None:
            decoder.finish()
            finished = True
        else:
            decoder.feed(piece)
        while True:
            try:
                if recovering and decoder.skip_message() is None:
                    break
                recovering = False
                if decoder.next_batch() is None:
                    break
            except rdfm.DecodeError:
                recovering = formats.find(name).spec.resumable
                if not recovering:
                    return decoder.header().get("notes", [])
    assert finished
    return decoder.header().get("notes", [])


def one_note(text, line, delimiter="'# @message'"):
    return [
        f"1 comment looks like a delimiter but is not one: '{text}' (line {line}); "
        f"the log's delimiter is {delimiter}"
    ]


@pytest.mark.parametrize("size", [0, 1, 2, 3, 7])
@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize(
    ("log", "expected"),
    [
        (f"{Q}\n# @Message\n{Q}\n", one_note("# @Message", 2)),
        (f"{Q}\n# @message\n{Q}\n \t#MESSAGE.\r\n{Q}\n", one_note("#MESSAGE.", 4)),
        ("# message", one_note("# message", 1)),
        (f"{Q}\r\n\r\r#@MESSAGE number 5", one_note("#@MESSAGE number 5", 4)),
        (f"{V}\n{Q}\n# @message\n{Q}\nMESSAGE\n{Q}\n", one_note("# @message", 3, "MESSAGE")),
        (f"{V}\n{Q}\n# Message\n{Q}\n", one_note("# Message", 3, "MESSAGE")),
        (f"{Q}\n# @message\n{Q}# @message\n# @messages\n{Q}", []),
        (f"{Q} # @Message\n{Q} # message\n# message about the sensor 5\n# the @Message\n", []),
        (f"{V}\n{Q} # @message\nMESSAGE # @message\n", []),
        (f"{Q}\n# message{' ' * 1200}x\n{Q}", []),
    ],
)
def test_comments_that_look_like_delimiters_are_noted(name, log, expected, size):
    assert notes(name, log, size) == expected
    assert notes(name, log.replace("MESSAGE\n", ""), size, dialect="plain") == []


@pytest.mark.parametrize("name", ["ttl", "trig"])
def test_comments_inside_statements_and_graph_blocks_are_ignored(name):
    assert notes(name, "<a:s>\n# message\n<a:p>\n# @Message\n1 .") == []
    if name == "trig":
        assert notes(name, f"<a:g> {{ {Q}\n# message\n}}\n# message") == one_note("# message", 4)


@pytest.mark.parametrize("name", TEXTS)
def test_the_dialect_option_determines_the_delimiter(name):
    log = f"{Q}\n# @message\n{Q}\n"
    assert notes(name, log) == []
    assert notes(name, log, dialect="directive") == one_note("# @message", 2, "MESSAGE")
    log = f"{V}\n{Q}\n# @message\n{Q}\n"
    assert notes(name, log, dialect="comment") == []


def test_comments_skipped_after_an_error_are_counted():
    log = f"{Q}\noops\n# @Message\n{Q}\n# @message\n{Q}\n  # message\n"
    (note,) = notes("nq", log)
    assert "2 comments" in note
    assert "(lines 3 and 7)" in note


lines = st.sampled_from(
    [Q, "# @message", "# @Message", "  # message", f"{Q} # message", "", "oops"]
)


@pytest.mark.parametrize("name", TEXTS)
@given(
    log=st.lists(lines, max_size=12), size=st.integers(1, 40), end=st.sampled_from(["\n", "\r\n"])
)
def test_piece_and_batch_sizes_do_not_change_the_notes(name, log, size, end):
    text = end.join(log)
    expected = notes(name, text)
    assert notes(name, text, size) == expected
    assert notes(name, text, size, batch_messages=1) == expected
    if "oops" not in log:
        look_alikes = [
            at + 1 for at, line in enumerate(log) if line in ("# @Message", "  # message")
        ]
        assert bool(expected) == bool(look_alikes)
        if look_alikes:
            assert expected[0].startswith(f"{len(look_alikes)} comment")
            assert all(str(line) in expected[0].partition("(line")[2] for line in look_alikes[:10])


@given(log=st.lists(lines.filter(lambda line: line != "oops"), max_size=12), data=st.data())
def test_each_comment_is_counted_in_one_split(log, data):
    text = "\n".join(log)
    boundaries = data.draw(st.lists(st.integers(1, max(len(text), 1)), unique=True).map(sorted))
    total = 0
    for start, stop in zip([0, *boundaries], [*boundaries, len(text) + 1], strict=True):
        decoder = formats.nq.decoder({}, Opening(split=(start, stop, "comment")))
        decoder.feed(text[max(start - 1, 0) :].encode())
        decoder.finish()
        while decoder.next_batch() is not None:
            pass
        for note in decoder.header().get("notes", []):
            total += int(note.split()[0])
            assert ("(line" in note) == (start == 0)
    assert total == sum(line in ("# @Message", "  # message") for line in log)


def test_reports_and_summaries_contain_the_notes(tmp_path):
    path, out = tmp_path / "a.trig", tmp_path / "b.nq"
    path.write_text(f"{Q}\n# @message\n{Q}\n# @message\n# @Message\n")
    assert (
        rdfm.inspect(path).notes
        == rdfm.convert(path, out).notes
        == tuple(one_note("# @Message", 5))
    )
    assert rdfm.convert(path, out, from_dialect="plain").notes == ()
