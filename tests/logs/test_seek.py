"""Messages read from the middle or the end of a large file equal those of a complete read."""

import random

import pytest

import rdfm
from rdfm.logs.input.driver import ReadSettings
from rdfm.logs.read import seek as seeking
from rdfm.logs.stages.selection import parse_messages, to_slice

SLICES = ("0", "5", "500", "777:780", "-1", "-5", "-700:-698", "-3:", "990:", "::100", "600:-390")


def make_log(delimiter, *, head="", first_empty=False, count=1000):
    """Returns a log with messages of different sizes, whose objects begin with the message number.

    The last message is not empty.
    """
    generator = random.Random(count)
    messages = [
        "".join(
            f'<http://e/s> <http://e/p> "{number}{"x" * generator.randint(0, 200)}" .\n'
            for _ in range(generator.randint(0, 3))
        )
        for number in range(count - 1)
    ]
    messages[0] = "" if first_empty else messages[0] or "<a:b> <a:b> <a:b> .\n"
    if first_empty:
        messages[0] = delimiter
    return head + delimiter.join([*messages, f'<http://e/s> <http://e/p> "{count - 1}" .\n'])


LOGS = {
    "comment": make_log("# @message\n"),
    "first message empty": make_log("# @message\n", first_empty=True),
    "directive": make_log("MESSAGE\n", head='VERSION "1.2-messages"\n'),
    "ends with a delimiter": make_log("# @message\n") + "# @message\n",
    "plain": make_log(""),
    "comments and directives": make_log("# @message\n")
    + 'VERSION "1.2-messages"\nMESSAGE\n<a:b> <a:b> <a:b> .\n',
}


@pytest.fixture(autouse=True)
def _small_steps(monkeypatch):
    monkeypatch.setattr(seeking, "FORWARD_BYTES", 10_000)
    monkeypatch.setattr(seeking, "BACKWARD_BYTES", 1_000)


@pytest.mark.parametrize("suffix", ["nq", "nt"])
@pytest.mark.parametrize("name", LOGS)
def test_selected_messages_equal_those_of_the_complete_log(name, suffix, tmp_path):
    path = tmp_path / f"a.{suffix}"
    path.write_text(LOGS[name])
    with rdfm.open_log(path) as complete:
        messages = [list(message.quads) for message in complete]
    for text in SLICES:
        selection = parse_messages(text)
        if isinstance(selection, int) and not -len(messages) <= selection < len(messages):
            with (
                pytest.raises(rdfm.OptionError, match="there is no message"),
                rdfm.open_log(path, messages=text) as selected,
            ):
                list(selected)
            continue
        expected = messages[to_slice(selection)]
        with rdfm.open_log(path, messages=text) as selected:
            found = [(message.message_index, list(message.quads)) for message in selected]
        assert [quads for _, quads in found] == expected, text
        assert [index for index, _ in found] == list(range(len(messages)))[to_slice(selection)], (
            text
        )
        converted = tmp_path / f"out.{suffix}"
        rdfm.convert(path, converted, messages=text)
        with rdfm.open_log(converted) as out:
            assert [list(message.quads) for message in out] == expected, text


@pytest.mark.parametrize(
    ("text", "is_skipped"), [("500", True), ("-3:", True), ("0", False), ("-3:5", False)]
)
def test_data_before_the_selection_is_skipped_if_possible(text, is_skipped, tmp_path):
    path = tmp_path / "a.nq"
    path.write_text(LOGS["comment"])
    split = seeking.seek(path, ReadSettings(), to_slice(parse_messages(text)))
    assert (split is not None and split.start > 20_000) is is_skipped


@pytest.mark.parametrize("name", ["a.nq.gz", "a.trig", "a/"])
def test_logs_that_cannot_be_split_are_read_from_the_start(name, tmp_path):
    source = tmp_path / "b.nq"
    source.write_text(LOGS["comment"])
    path = tmp_path / name
    rdfm.convert(source, f"{tmp_path}/{name}", to=name.split(".")[1] if "." in name else "nq")
    assert seeking.seek(path, ReadSettings(), slice(500, 501)) is None
    with rdfm.open_log(path, messages="500") as log:
        (message,) = log
    with rdfm.open_log(source, messages="500") as log:
        assert [list(each.quads) for each in log] == [list(message.quads)]


def test_an_error_before_the_selection_is_not_reached(tmp_path):
    path = tmp_path / "a.nq"
    path.write_text("<a:b> <a:b> <a:b> .\n# @message\noops\n# @message\n" + LOGS["comment"])
    with rdfm.open_log(path, messages="500") as log:
        assert [message.message_index for message in log] == [500]
    with pytest.raises(rdfm.DecodeError), rdfm.open_log(path) as log:
        list(log)


def test_a_selection_and_a_split_cannot_be_combined(tmp_path):
    split = rdfm.Split(5, 10, format="nq")
    with pytest.raises(rdfm.OptionError, match="messages and split both select a part of the log"):
        rdfm.open_log(b"", "nq", messages="1", split=split)


def test_the_option_messages_accepts_an_integer():
    log = b"<a:b> <a:b> '0' .\n# @message\n<a:b> <a:b> '1' .\n".replace(b"'", b'"')
    assert [message.message_index for message in rdfm.open_log(log, "nq", messages=1)] == [1]
    with pytest.raises(
        rdfm.OptionError, match="messages must be a number such as 5000, or a slice"
    ):
        rdfm.open_log(log, "nq", messages=1.5)
