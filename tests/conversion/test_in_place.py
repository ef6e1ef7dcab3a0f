"""Comparing a file with its pretty form, and replacing it."""

import stat

import pytest

from rdfm import DecodeError, EncodeError, OptionError, convert

PRETTY = "PREFIX e: <http://e/>\n\ne:a\n    e:p\n        1 ,\n        2 ;\n.\n"
OTHER = "@prefix e: <http://e/> . e:a e:p 2, 1, 2 ."


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "a.ttl"
    path.write_text(OTHER)
    return path


def test_check_reports_whether_a_file_differs_and_writes_nothing(file):
    assert convert(file, pretty=True, check=True).changed
    assert file.read_text() == OTHER
    file.write_text(PRETTY)
    assert not convert(file, pretty=True, check=True).changed
    file.write_text(PRETTY + "\n")
    assert convert(file, pretty=True, check=True).changed
    assert [path.name for path in file.parent.iterdir()] == ["a.ttl"]


def test_in_place_replaces_a_file_that_differs(file):
    file.chmod(0o640)
    summary = convert(file, pretty=True, in_place=True)
    assert summary.changed
    assert (summary.quads, summary.dropped) == (2, {"repeated quads": 1})
    assert file.read_text() == PRETTY
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    before = file.stat()
    assert not convert(file, pretty=True, in_place=True).changed
    after = file.stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)
    assert [path.name for path in file.parent.iterdir()] == ["a.ttl"]


def test_in_place_replaces_the_target_of_a_link(file):
    link = file.with_name("link.ttl")
    link.symlink_to(file)
    assert convert(link, pretty=True, in_place=True).changed
    assert link.is_symlink()
    assert file.read_text() == PRETTY


def test_comments_are_removed_only_on_request(file):
    text = f"# one\n{OTHER} # two\n# @message\n# three\n"
    file.write_text(text)
    with pytest.raises(
        EncodeError,
        match=r"a\.ttl: ttl: the file contains 3 comments, which cannot be kept; "
        "drop_comments=True removes them",
    ):
        convert(file, pretty=True, in_place=True)
    assert file.read_text() == text
    assert convert(file, pretty=True, check=True).dropped["comments"] == 3
    assert convert(file, pretty=True, in_place=True, drop_comments=True).changed
    assert file.read_text() == PRETTY
    assert [path.name for path in file.parent.iterdir()] == ["a.ttl"]


def test_a_file_with_an_error_is_not_changed(file):
    file.write_text(f"{OTHER} e:a e:p")
    with pytest.raises(DecodeError, match=r"a\.ttl"):
        convert(file, pretty=True, in_place=True)
    assert file.read_text() == f"{OTHER} e:a e:p"
    assert [path.name for path in file.parent.iterdir()] == ["a.ttl"]


def test_the_location_of_a_file_does_not_change_its_text(file):
    file.write_text("<#a> <#p> <#b> .")
    with pytest.raises(DecodeError, match="base"):
        convert(file, pretty=True, in_place=True)
    assert convert(file, pretty=True, in_place=True, lenient=True).changed
    assert file.read_text() == "<#a>\n    <#p> <#b> ;\n.\n"
    assert convert(file, pretty=True, in_place=True, base="http://e/").changed
    assert file.read_text() == "<http://e/#a>\n    <http://e/#p> <http://e/#b> ;\n.\n"


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"check": True}, "check=True needs pretty=True"),
        ({"check": True, "pretty": False}, "check=True needs pretty=True"),
        ({"check": True, "in_place": True, "pretty": True}, "cannot be combined with in_place"),
        ({"in_place": True, "pretty": True, "to": "trig"}, "cannot be combined with to"),
        ({"in_place": True, "pretty": True, "take": 1}, "cannot be combined with take"),
        ({"in_place": True, "pretty": True, "on_error": "skip"}, "cannot be combined with on_er"),
        ({"in_place": True, "pretty": True, "from_format": "nq"}, "option pretty is for writing"),
        ({"drop_comments": True, "pretty": True}, "drop_comments=True applies to in_place=True"),
        ({}, "no output is given"),
    ],
)
def test_options_that_do_not_fit_are_errors(file, options, reason):
    with pytest.raises(OptionError, match=reason):
        convert(file, **options)
    assert file.read_text() == OTHER


def test_only_one_uncompressed_file_is_accepted(file, tmp_path):
    for inputs, output, reason in [
        ([file, file], None, "needs one file as input"),
        (tmp_path, None, "needs one file as input"),
        (OTHER.encode(), None, "needs one file as input"),
        ("https://example.org/a.ttl", None, "needs one file as input"),
        (file, tmp_path / "b.ttl", "has no output"),
    ]:
        with pytest.raises(OptionError, match=reason):
            convert(inputs, output, pretty=True, check=True)
    for name, reason in [("a.ttl.gz", "is compressed"), ("a.txt", "suffix")]:
        (tmp_path / name).write_text(OTHER)
        with pytest.raises(OptionError, match=reason):
            convert(tmp_path / name, pretty=True, check=True)
    assert convert(tmp_path / "a.txt", pretty=True, check=True, from_format="ttl").changed
