"""Positions of members: agreement with decompression, wrong sizes, and hostile files."""

import io
import struct
import time
import zlib
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from members import MEMBERS, SKIPPABLE_FRAME, bgzf_member, cut, join, zstd

from rdfm.errors import DecodeError, RdfmError
from rdfm.storage.compression import decompress, decompress_members
from rdfm.storage.members import MemberPosition, add_size, choose_positions, find_members

KINDS = [(compression, kind) for compression, kinds in MEMBERS.items() for kind in kinds]


def positions_of(compression, data):
    return list(find_members(compression, io.BytesIO(data), len(data)))


def read(compression, data, first, stop=None, piece=7):
    pieces = cut(data[first.file_offset :], piece)
    return b"".join(decompress_members(compression, pieces, first, stop))


@given(
    kinds=st.sampled_from(["gzip", "zstd"]).flatmap(
        lambda compression: st.lists(
            st.sampled_from([(compression, kind) for kind in MEMBERS[compression]]), min_size=1
        )
    ),
    pieces=st.lists(st.binary(max_size=300), max_size=8),
    piece=st.integers(1, 50),
)
def test_reading_from_every_position_yields_the_rest(kinds, pieces, piece):
    compression = kinds[0][0]
    names = [kind for _, kind in kinds]
    data, log = join(compression, names, pieces), b"".join(pieces)
    positions = positions_of(compression, data)
    for first, stop in zip(positions, [*positions[1:], None], strict=False):
        assert read(compression, data, first, stop, piece) == log[first.byte_offset :]
        assert read(compression, data, first, None, piece) == log[first.byte_offset :]
    starts = {sum(map(len, pieces[:number])) for number in range(len(pieces))}
    assert {position.byte_offset for position in positions} <= starts
    if "unsized" not in names:
        data_starts = [sum(map(len, pieces[:number])) for number, each in enumerate(pieces) if each]
        assert [position.byte_offset for position in positions] == data_starts


@pytest.mark.parametrize(("compression", "kind"), KINDS)
def test_members_are_found_up_to_the_first_unknown_size(compression, kind):
    pieces = [bytes([65 + number]) * 1000 for number in range(6)]
    sized = join(compression, ["rdfm"], pieces[:3])
    rest = join(compression, [kind], pieces[3:])
    count = 4 if kind == "unsized" else 6
    expected = [1000 * number for number in range(count)]
    found = [position.byte_offset for position in positions_of(compression, sized + rest)]
    assert found == expected
    # Zeros or garbage after the members are not a position.
    found = [position.byte_offset for position in positions_of(compression, sized + b"\0" * 99)]
    assert found == expected[:3]


@pytest.mark.parametrize("compression", ["gzip", "zstd"])
def test_other_data_has_no_positions(compression):
    for data in (b"", b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"<http://ex/s> " * 100):
        assert len(positions_of(compression, data)) <= 1
    assert positions_of("xz", b"\xfd7zXZ\0" * 100) == []


def test_wrong_sizes_are_errors():
    pieces = [b"a" * 5000, b"b" * 5000]
    for compression in MEMBERS:
        data = join(compression, ["rdfm"], pieces)
        first, stop = positions_of(compression, data)
        for wrong in (
            stop._replace(byte_offset=stop.byte_offset - 1),
            stop._replace(byte_offset=stop.byte_offset + 1),
            stop._replace(file_offset=stop.file_offset - 1),
            stop._replace(file_offset=stop.file_offset + 1),
            MemberPosition(len(data), stop.byte_offset),
        ):
            with pytest.raises(DecodeError):
                read(compression, data, first, wrong)


def test_a_member_inside_another_one_is_not_read_in_its_place():
    """The header of the first member states a size that ends at a member within its content."""
    inner = bgzf_member(b"inner")
    content = struct.pack("<I", 5) + inner
    deflate = zlib.compressobj(0, wbits=-15)
    body = deflate.compress(content) + deflate.flush()
    gzip_head = b"\x1f\x8b\x08\0\0\0\0\0\0\3"
    member = add_size(gzip_head + body + struct.pack("<2I", zlib.crc32(content), len(content)))
    wrong_size = member.index(inner) - 28
    lying = member[:16] + struct.pack("<I", wrong_size) + member[20:]
    assert b"".join(decompress("gzip", [lying])) == content
    first, stop, *_ = positions_of("gzip", lying)
    assert lying[stop.file_offset :].startswith(inner)
    with pytest.raises(RdfmError):
        read("gzip", lying, first, stop)


def test_positions_divide_a_file_evenly():
    positions = [MemberPosition(10 * number, number) for number in range(100)]
    for count in (1, 2, 3, 7, 100, 250):
        chosen = choose_positions(iter(positions), 1000, count)
        assert chosen[0] == positions[0]
        assert len(chosen) == min(count, 100)
        sizes = [b.file_offset - a.file_offset for a, b in pairwise(chosen)]
        assert all(abs(size - 1000 / min(count, 100)) <= 10 for size in sizes)
    assert choose_positions([], 1000, 5) == []
    uneven = [MemberPosition(0, 0), MemberPosition(900, 1), MemberPosition(950, 2)]
    assert choose_positions(uneven, 1000, 4) == uneven


@pytest.mark.parametrize(
    "data",
    [
        zstd.compress(b"") * 1_000_000,
        SKIPPABLE_FRAME * 1_000_000,
        b"\x28\xb5\x2f\xfd\xa4\0\0\0\1" + b"\0\0\0" * 3_000_000,  # a frame of empty blocks
        bgzf_member(b"") * 300_000,
    ],
)
def test_tiny_members_are_not_searched_for_long(data):
    compression = "gzip" if data.startswith(b"\x1f") else "zstd"
    start = time.process_time()
    positions_of(compression, data)
    assert time.process_time() - start < 0.5
