"""Detection of delimited Jelly does not depend on piece sizes."""

import jelly_proto
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rdfm import DecodeError
from rdfm.formats import jelly


def outcome(pieces):
    """Returns the messages of a log that is fed in pieces, and the error."""
    decoder = jelly.Decoder()
    found = []

    def read_batches():
        while (batch := decoder.next_batch()) is not None:
            found.extend(
                (list(map(str, message.quads)), dict(message.metadata)) for message in batch
            )

    try:
        for piece in pieces:
            decoder.feed(piece)
            read_batches()
        decoder.finish()
        read_batches()
    except DecodeError as error:
        return found, str(error)
    return found, None


def in_all_pieces(log):
    """Returns the outcome of a log. Checks that it is the same for one, two and one-byte pieces."""
    expected = outcome([log])
    assert outcome([log[at : at + 1] for at in range(len(log))]) == expected
    for at in range(len(log)):
        assert outcome([log[:at], log[at:]]) == expected
    return expected


def field(tag, payload):
    return tag + jelly_proto.varint(len(payload)) + payload


def entry(key, value, *, key_first=True):
    parts = [field(b"\x0a", key), field(b"\x12", value)]
    return field(b"\x7a", b"".join(parts if key_first else parts[::-1]))


def rows():
    writer = jelly_proto.Writer(1)
    iri = ("iri", "http://e/a")
    writer.message([(iri, iri, iri, None)])
    return writer.frames[0].SerializeToString()


ROWS = rows()
# Bytes at positions that detection inspects.
SIGNIFICANT_BYTES = st.sampled_from([0x00, 0x02, 0x08, 0x0A, 0x12, 0x76, 0x78, 0x7A, 0x80, 0xFF])


@given(
    st.lists(SIGNIFICANT_BYTES, max_size=8), st.binary(max_size=4), st.sampled_from([0, 110, 130])
)
def test_detection_of_small_inputs_does_not_depend_on_pieces(first_bytes, next_bytes, padding):
    in_all_pieces(bytes(first_bytes) + next_bytes + bytes(padding))


def test_an_input_with_ambiguous_first_bytes_is_detected():
    in_all_pieces(bytes.fromhex("7a7a0a020202"))


@pytest.mark.parametrize(
    "size", [0, 1, 6, 8, 9, 10, 11, 12, 118, 119, 120, 121, 122, 123, 124, 130]
)
@pytest.mark.parametrize("rows_first", [False, True])
def test_a_first_entry_of_any_size_is_detected(size, rows_first):
    """The length of an entry or of a frame may look like a tag."""
    name = "k" * min(max(size - 8, 0), 20)
    value = bytes(max(size - len(name) - 4, 0))
    for key_first in (True, False):
        metadata = entry(name.encode(), value, key_first=key_first)
        frame = ROWS + metadata if rows_first else metadata + ROWS
        quads, expected = ["<http://e/a> <http://e/a> <http://e/a> ."], {name: value}
        assert in_all_pieces(frame) == ([(quads, expected)], None)
        # A separate frame, which is two bytes longer than the entry.
        for content in (metadata, entry(b"", bytes(max(size - 6, 0)))):
            delimited = field(b"", content) + field(b"", ROWS)
            messages, error = in_all_pieces(delimited)
            assert (len(messages), error) == (2, None)


@given(
    st.binary(min_size=1, max_size=110), st.text(alphabet="abcxyz:/-", max_size=8), st.booleans()
)
def test_a_bare_frame_may_start_with_122_bytes_of_metadata(value, name, key_first):
    value = value.ljust(118 - len(name), b"\x00")
    metadata = entry(name.encode(), value, key_first=key_first)
    assert metadata[1] == 122
    for log in (metadata, metadata + ROWS):
        (message,), error = in_all_pieces(log)
        assert (message[1], error) == ({name: value}, None)
