"""rdfm with a format implemented in pure Python, as in docs/plugins.md."""

import json

import pytest

import rdfm
from rdfm import DecodeError, MessageBatch, Quad, formats, parse_term


class Decoder(formats.Decoder):
    """Reads one message per line: a JSON list of quads, which are lists of terms."""

    def __init__(self, *, shout=False):
        self.shout = shout
        self.reset()

    def reset(self):
        self.rest, self.index, self.error = b"", 0, None

    def feed(self, piece):
        self.rest += piece

    def finish(self):
        pass

    def next_batch(self):
        messages = []
        while self.error is None and b"\n" in self.rest:
            line, self.rest = self.rest.split(b"\n", 1)
            try:
                messages.append([Quad(*map(self.term, quad)) for quad in json.loads(line)])
                self.index += 1
            except (ValueError, TypeError) as error:
                self.error = DecodeError(str(error), format="jsonq", message_index=self.index)
        if messages:
            return MessageBatch.from_messages(messages)
        if self.error is not None:
            raise self.error
        return None

    @staticmethod
    def term(text):
        return None if text is None else parse_term(text)


class Encoder(formats.Encoder):
    """Writes the format that `Decoder` reads."""

    def reset(self):
        pass

    def encode(self, batch, source=None):
        lines = [
            [[None if term is None else str(term) for term in quad] for quad in m] for m in batch
        ]
        return "".join(json.dumps(line) + "\n" for line in lines).encode()

    def finish(self):
        return b""


JSONQ = formats.Format(
    formats.FormatSpec(
        "jsonq",
        "JSON quads",
        suffixes=(".jsonq",),
        sniff=lambda head, _: head.startswith((b"[]\n", b"[[")),
        reads=[formats.OptionSpec("shout", "switch")],
        carries={"graphs": True, "triple_terms": "anywhere", "boundaries": True},
    ),
    Decoder,
    Encoder,
)
LOG = b'<http://e/s> <http://e/p> "a" .\n# @message\n# @message\n_:b <http://e/p> "b" <http://e/g> .\n'


@pytest.fixture(autouse=True)
def registered():
    formats.register(JSONQ)
    yield
    formats.unregister("jsonq")


def test_plug_in_messages_are_read_back(tmp_path):
    summary = rdfm.convert(LOG, tmp_path / "log.jsonq.gz", from_format="nq")
    assert (summary.messages, summary.quads) == (3, 2)
    rdfm.convert(tmp_path / "log.jsonq.gz", tmp_path / "log.jelly")
    rdfm.convert(tmp_path / "log.jelly", tmp_path / "back.nq")
    assert (tmp_path / "back.nq").read_bytes() == LOG


def test_plug_in_messages_are_ordinary_messages(tmp_path):
    with rdfm.create_log(tmp_path / "x.jsonq") as log:
        log.write([Quad(parse_term("<http://e/s>"), parse_term("<http://e/p>"), parse_term('"o"'))])
        log.write([])
    with rdfm.open_log((tmp_path / "x.jsonq").read_bytes()) as log:  # detected by content
        assert log.format == "jsonq"
        assert [len(message) for message in log] == [1, 0]


def test_messages_before_an_error_are_delivered(tmp_path):
    invalid = b'[]\n[["<http://e/s>"]]\n'
    with rdfm.open_log(invalid, "jsonq") as log:
        messages = iter(log)
        assert len(next(messages)) == 0
        with pytest.raises(DecodeError, match=r"^bytes: jsonq: .*\(message 1\)"):
            next(messages)
    summary = rdfm.convert(invalid, tmp_path / "x.nq", from_format="jsonq", on_error="skip")
    assert (summary.messages, summary.skipped, summary.abandoned) == (1, 1, ("bytes",))


def test_plug_in_options_are_checked():
    rdfm.open_log(b"", "jsonq", shout=True).close()
    with pytest.raises(
        rdfm.OptionError, match="no option 'loud'; the options for reading JSON quads are shout"
    ):
        rdfm.open_log(b"", "jsonq", loud=True)


def test_errors_in_the_detection_of_a_format_are_warnings():
    def sniff(head, complete):
        raise IndexError(len(head))

    formats.register(formats.Format(formats.FormatSpec("worse", "Worse", sniff=sniff), None, None))
    try:
        with pytest.warns(
            RuntimeWarning, match="the format 'worse' cannot be detected: IndexError: 1"
        ):
            assert formats.by_content(b"x") is None
        assert formats.by_content(LOG).name == "nq"
    finally:
        formats.unregister("worse")


def test_a_folder_of_plug_in_logs_is_inspected(tmp_path):
    (tmp_path / "a.jsonq").write_bytes(b"[]\n[]\n")
    for format in (None, "jsonq"):  # the plug-in lacks options of other formats, such as parts
        assert rdfm.inspect(tmp_path, format).messages == 2
    with pytest.raises(
        rdfm.OptionError, match="no option 'loud'; the options for reading JSON quads are shout"
    ):
        rdfm.inspect(tmp_path, "jsonq", loud=True)
