"""Members of complete, damaged and truncated tar archives, compared with tarfile."""

import tarfile

import pytest
from archives import tar
from hypothesis import given
from hypothesis import strategies as st

from rdfm import DecodeError, LimitError, TruncatedError
from rdfm.storage import archive


def read_members(data, size):
    for members in archive.members(data[at : at + size] for at in range(0, len(data), size)):
        for member in members:
            yield member.name, b"".join(member.pieces), member.rejection


MEMBERS = st.lists(
    st.tuples(
        st.text(st.characters(exclude_characters="/\0\\", exclude_categories=["Cs"]), min_size=1)
        .map(lambda name: f"x{name}"[:150])
        .map(lambda name: f"{name}/{name}.nq"),
        st.binary(max_size=2000),
    ),
    max_size=6,
)


@pytest.mark.parametrize("format", [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT])
@given(members=MEMBERS, size=st.sampled_from([1, 511, 512, 513, 4000, 1 << 20]))
def test_archives_written_by_tarfile_are_read(format, members, size):
    # Names start with x, so they are never hidden.
    data = tar(*members, format=format)
    found = [(name, content) for name, content, _ in read_members(data, size)]
    assert found == members


def test_large_members_are_read_in_pieces():
    large_content = bytes(range(256)) * 20_000
    data = tar(("a.nq", b"1"), ("big.nq", large_content), ("z.nq", b"2"))
    for size in (1000, 1 << 20, len(data)):
        found = [content for _, content, _ in read_members(data, size)]
        assert found == [b"1", large_content, b"2"]
    pieces = (data[at : at + 1000] for at in range(0, len(data), 1000))
    names = [member.name for group in archive.members(pieces) for member in group]
    assert names == ["a.nq", "big.nq", "z.nq"]  # without reading the data


@given(at=st.integers(0, 6000))
def test_a_truncated_archive_is_an_error_after_its_complete_members(at):
    data = tar(("a.nq", b"1" * 600), ("b.nq", b"2" * 600))
    found = []
    with pytest.raises(TruncatedError, match="truncated"):
        for member in read_members(data[: min(at, 3 * 512 * 2)], 700):
            found.append(member[0])
    assert found == ["a.nq", "b.nq"][: len(found)]
    assert len(found) == (at >= 1536) + (at >= 3072)


@pytest.mark.parametrize("offset", [0, 100, 130, 148, 156, 260, 500])
def test_a_damaged_header_is_an_error(offset):
    data = bytearray(tar(("a.nq", b"1"), ("b.nq", b"2")))
    data[1024 + offset] ^= 0x15
    found = []
    with pytest.raises(DecodeError, match="the archive is corrupt"):
        found.extend(read_members(bytes(data), 512))
    assert len(found) == 1


@given(data=st.binary(max_size=3000))
def test_random_bytes_raise_an_error(data):
    with pytest.raises(DecodeError):
        list(read_members(b"x" + data, 512))


def header_with_size(kind, size):
    info = tarfile.TarInfo("a.nq")
    info.type = kind
    info.size = size
    return info.tobuf(tarfile.GNU_FORMAT)


def test_declared_sizes_do_not_reserve_memory():
    with pytest.raises(TruncatedError, match=r"inside 'a\.nq'"):
        list(read_members(header_with_size(tarfile.REGTYPE, 1 << 60) + b"1" * 1000, 512))
    with pytest.raises(DecodeError, match="the size of a member is not a number"):
        list(read_members(header_with_size(tarfile.REGTYPE, 1 << 63), 512))
    for kind in (tarfile.GNUTYPE_LONGNAME, tarfile.XHDTYPE):
        with pytest.raises(LimitError, match="the limit is 1048576"):
            list(read_members(header_with_size(kind, 1 << 21), 512))


def test_joined_archives_are_rejected():
    data = tar(("a.nq", b"1"))
    with pytest.raises(DecodeError, match="after the archive's end mark"):
        list(read_members(data + data, 512))


@pytest.mark.parametrize(
    "name", ["a", "009/0000009999.ttl", "a" * 100, "b" * 60 + "/" + "a" * 90, "é.ttl"]
)
@pytest.mark.parametrize("size", [0, 1, 511, 512, 8**6])
def test_headers_equal_those_of_tarfile(name, size):
    header = tarfile.TarInfo(name)
    header.size, header.mode = size, 0o644
    assert archive.entry(name, bytes(size))[:512] == header.tobuf(tarfile.USTAR_FORMAT)
