"""`check` finds damage in packages, and accepts packages from an independent writer."""

import gzip
import hashlib
import io
import re
import shutil
import tarfile

import pytest
import riverbench

import rdfm
from rdfm.riverbench import check, package

XSD = "http://www.w3.org/2001/XMLSchema#"


def message(number):
    """Returns a message with a blank node and literals of each kind."""
    node = f"<http://ex/{number}>"
    return (
        f'{node} <http://ex/p> "v{number % 7}" .\n{node} <http://ex/q> _:b .\n'
        f'_:b <http://ex/r> "{number}"^^<{XSD}integer> .\n{node} <http://ex/l> "é\\"{number}"@fr .\n'
    )


def log_of(count):
    return "# @message\n".join(map(message, range(count))).encode()


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """A package that rdfm wrote."""
    folder = tmp_path_factory.mktemp("original") / "package"
    package(log_of(12), folder, stream_type="graphs", format="nt")
    return folder


@pytest.fixture
def damaged(original, tmp_path):
    """A copy of the package for the test to damage."""
    folder = tmp_path / "package"
    shutil.copytree(original, folder)
    return folder


def findings(folder, **options):
    return [
        (found.rule, found.source.rpartition("/")[2], found.text)
        for found in check(folder, **options)
    ]


def replace(folder, old, new, count=1):
    """Replaces a string, which the metadata must contain."""
    path = folder / "package_metadata.ttl"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, count))


def rewrite(folder, name, data):
    """Replaces a file, and its size and checksums in the metadata."""
    path = folder / name
    old = path.read_bytes()
    path.write_bytes(data)
    replace(folder, f"dcat:byteSize {len(old)} ", f"dcat:byteSize {len(data)} ")
    for algorithm in ("md5", "sha1"):
        values = (hashlib.new(algorithm, each).hexdigest() for each in (old, data))
        replace(folder, *values)


def change(folder, name, edit):
    """Changes the uncompressed content of a file."""
    data = gzip.decompress((folder / name).read_bytes())
    changed = edit(data)
    assert changed != data
    rewrite(folder, name, gzip.compress(changed, mtime=0))


def members(data):
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        return {each.name: archive.extractfile(each).read() for each in archive}


def archived(files):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return out.getvalue()


def jelly_of(folder, change=lambda messages: messages, **options):
    """Returns a package's Jelly file, rewritten with other messages or options."""
    with rdfm.open_log(folder / "jelly_full.jelly.gz") as log:
        messages = change([list(each) for each in log])
    out = io.BytesIO()
    settings = {"physical_type": "triples", "logical_type": "graphs", **options}
    with rdfm.create_log(out, "jelly", restart_bytes=0, **settings) as log:
        for each in messages:
            log.write(each)
    return gzip.compress(out.getvalue(), mtime=0)


def test_a_package_is_clean(original):
    checked = check(original)
    assert list(checked) == []
    assert (checked.logs, checked.messages, checked.records) == (3, 12, 48)
    assert checked.ok
    assert checked.summary()["errors"] == 0


@pytest.mark.parametrize("count", [1, 12, pytest.param(1001, marks=pytest.mark.slow)])
@pytest.mark.parametrize("plain", [False, True])
def test_a_package_from_an_independent_writer_is_clean(tmp_path, count, plain):
    riverbench.write_package(tmp_path / "p", [message(i) for i in range(count)], plain=plain)
    assert findings(tmp_path / "p") == []


@pytest.mark.parametrize("stream_type", ["namedGraphStream", "datasetStream"])
def test_a_package_with_graphs_from_an_independent_writer_is_clean(tmp_path, stream_type):
    texts = [message(i).replace(" .\n", f" <http://ex/g{i}> .\n") for i in range(12)]
    if stream_type == "datasetStream":
        texts[3] += "<http://ex/s> <http://ex/p> <http://ex/o> .\n"
    riverbench.write_package(tmp_path / "p", texts, stream_type)
    assert findings(tmp_path / "p") == []


@pytest.mark.slow
def test_a_package_with_partial_distributions_is_clean(tmp_path):
    texts = [f'<http://ex/{i}> <http://ex/p> "{i % 10}" .\n' for i in range(10_001)]
    riverbench.write_package(tmp_path / "p", texts)
    checked = check(tmp_path / "p")
    assert list(checked) == []
    assert (checked.logs, checked.messages) == (6, 10_001)


def test_one_size_of_a_release_can_be_checked(tmp_path):
    texts = [f'<http://ex/{i}> <http://ex/p> "{i % 10}" .\n' for i in range(10_001)]
    folder = tmp_path / "p"
    riverbench.write_package(folder, texts)
    for path in folder.glob("*_full.*"):
        path.unlink()
    assert {rule for rule, _, _ in findings(folder)} >= {"missing-file"}
    checked = check(folder, sizes="10K")
    assert list(checked) == []
    assert (checked.logs, checked.messages) == (3, 10_000)
    for path in folder.glob("sample_*"):
        path.unlink()
    assert findings(folder, sizes="10K") == []
    path = folder / "flat_10K.nt.gz"
    path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes()).replace(b'"3"', b'"4"', 1)))
    rules = {(rule, name) for rule, name, _ in findings(folder, sizes="10K")}
    assert ("different-message", path.name) in rules
    path.unlink()
    assert findings(folder, sizes="10K") == [
        ("missing-file", path.name, "the file is in the metadata, but does not exist")
    ]
    assert {name for _, name, _ in findings(folder, sizes="10K,full")} >= {"jelly_full.jelly.gz"}
    assert findings(folder, sizes="1M") == [
        ("metadata", "package_metadata.ttl", "the dataset has no distributions of the size 1M")
    ]
    with pytest.raises(rdfm.OptionError, match="sizes contains '5K', expected 10K, 100K"):
        check(folder, sizes="10K,5K")


@pytest.mark.parametrize(
    "name",
    ["flat_full.nt.gz", "package_metadata.ttl", "metadata.nt", "sample_0000000000.ttl"],
)
def test_links_out_of_the_folder_are_not_followed(damaged, tmp_path, name):
    target = tmp_path / "secret"
    target.write_bytes(b"secret" if name == "metadata.nt" else (damaged / name).read_bytes())
    (damaged / name).unlink(missing_ok=True)
    (damaged / name).symlink_to(target)
    found = findings(damaged)
    text = "a symbolic link to a file outside of the folder, which is not read"
    assert ("unreadable", name, text) in found
    assert "secret" not in str(found)
    (damaged / name).unlink()
    (damaged / "_inside").write_bytes(target.read_bytes())
    (damaged / name).symlink_to("_inside")
    assert "unreadable" not in {rule for rule, _, _ in findings(damaged)}


# --- damaged packages ---


def flip_a_bit(folder):
    path = folder / "flat_full.nt.gz"
    data = bytearray(path.read_bytes())
    data[4] ^= 1  # the time in gzip's header, which readers ignore
    path.write_bytes(data)


def truncate(folder):
    path = folder / "jelly_full.jelly.gz"
    path.write_bytes(path.read_bytes()[:-20])


def change_a_message(folder):
    change(folder, "flat_full.nt.gz", lambda data: data.replace(b'"v3"', b'"v4"', 1))


def add_a_message(folder):
    rewrite(folder, "jelly_full.jelly.gz", jelly_of(folder, lambda found: [*found, found[0]]))


def remove_a_message(folder):
    def edit(data):
        files = members(data)
        del files["0000000011.ttl"]
        return archived(files)

    change(folder, "stream_full.tar.gz", edit)


def rename_a_member(folder):
    def edit(data):
        files = {name.replace("0000000007", "7"): text for name, text in members(data).items()}
        return archived(files)

    change(folder, "stream_full.tar.gz", edit)


def make_a_member_invalid(folder):
    def edit(data):
        return archived({**members(data), "0000000007.ttl": b"<http://ex/s> <http://ex/p> ."})

    change(folder, "stream_full.tar.gz", edit)


def change_the_logical_type(folder):
    rewrite(folder, "jelly_full.jelly.gz", jelly_of(folder, logical_type="subject_graphs"))


def swap_messages(folder):
    rewrite(folder, "jelly_full.jelly.gz", jelly_of(folder, lambda m: [m[1], m[0], *m[2:]]))


def change_the_sample(folder):
    (folder / "sample_0000000010.ttl").write_text("<http://ex/s> <http://ex/p> <http://ex/o> .")


def fill_an_empty_sample(folder):
    (folder / "sample_0000000100.ttl").write_text("<http://ex/s> <http://ex/p> <http://ex/o> .")


def remove_a_checksum(folder):
    path = folder / "package_metadata.ttl"
    text = path.read_text()
    path.write_text(re.sub(r"\[ a spdx:Checksum[^]]*_md5[^]]*\] , ", "", text, count=1))


def remove_a_class(folder):
    path = folder / "package_metadata.ttl"
    text, count = re.subn(r"\[ a rb:SubjectCountStatistics [^]]*\] ,\n", "", path.read_text())
    assert count == 1
    path.write_text(text)


def set_statistics(name, field, value):
    def edit(folder):
        path = folder / "package_metadata.ttl"
        pattern = rf"(\[ a rb:{name} [^]]*{field} )[^ ]+"
        text, count = re.subn(pattern, rf"\g<1>{value}", path.read_text())
        assert count == 1
        path.write_text(text)

    return edit


def count_more_terms(folder):
    """Sets the number of distinct literals, and its bounds."""
    for field in ("uniqueCount", "uniqueCountLowerBound", "uniqueCountUpperBound"):
        set_statistics("LiteralCountStatistics", f"rb:{field}", "40")(folder)


def change_the_announcement(folder):
    change(
        folder, "flat_full.nt.gz", lambda data: data.replace(b"1.1-messages", b"1.2-messages", 1)
    )
    change(folder, "flat_full.nt.gz", lambda data: data.replace(b"1.2-messages", b"1.2-basic", 1))


DAMAGE = {
    "a flipped bit": (flip_a_bit, "checksum", r"the md5 is \w{32}, expected \w{32}"),
    "a truncated file": (truncate, "truncated", r"the gzip data ends before its end mark; .*"),
    "a wrong file size": (truncate, "byte-size", r"the file has \d+ bytes, expected \d+"),
    "an uncompressed file": (
        lambda folder: (folder / "flat_full.nt.gz").write_bytes(b"<http://ex/s> oops"),
        "syntax",
        r".*expected .*",
    ),
    "a missing file": (
        lambda folder: (folder / "flat_full.nt.gz").unlink(),
        "missing-file",
        "the file is in the metadata, but does not exist",
    ),
    "a missing sample": (
        lambda folder: (folder / "sample_0000000010.ttl").unlink(),
        "missing-file",
        "the sample does not exist",
    ),
    "an unlisted file": (
        lambda folder: (folder / "notes.txt").write_text("notes"),
        "unlisted-file",
        "the file is not in the metadata",
    ),
    "missing metadata": (
        lambda folder: (folder / "package_metadata.ttl").unlink(),
        "missing-file",
        r"there is no package_metadata.ttl \(in a release, metadata.ttl\)",
    ),
    "invalid metadata": (
        lambda folder: replace(folder, "a rb:Distribution", "a rb:Distribution oops"),
        "syntax",
        ".*found 'oops'.*",
    ),
    "a changed message": (
        change_a_message,
        "different-message",
        "the message differs from that of jelly_full.jelly.gz",
    ),
    "messages in another order": (
        swap_messages,
        "different-message",
        "the message differs from that of flat_full.nt.gz",
    ),
    "an extra message": (
        add_a_message,
        "message-count",
        "expected 12 messages, found 13",
    ),
    "a missing message": (
        remove_a_message,
        "message-count",
        "expected 12 messages, found 11",
    ),
    "a wrong member name": (
        rename_a_member,
        "layout",
        "the file of message 7 is 7.ttl, expected 0000000007.ttl",
    ),
    "an invalid message": (make_a_member_invalid, "syntax", "expected an object, found '\\.'.*"),
    "a wrong logical type": (
        change_the_logical_type,
        "layout",
        "the stream option logical_type is subject-graphs, expected graphs",
    ),
    "a bad sample": (change_the_sample, "different-message", "the sample differs from message 10"),
    "a sample without a message": (
        fill_an_empty_sample,
        "different-message",
        "the sample is not empty, but there is no message 100",
    ),
    "a wrong message count": (
        lambda folder: replace(
            folder, "rb:hasStreamElementCount 12", "rb:hasStreamElementCount 13"
        ),
        "message-count",
        "expected 13 messages, found 12",
    ),
    "a wrong media type": (
        lambda folder: replace(folder, '"text/turtle"', '"text/plain"'),
        "metadata",
        "stream_full.tar.gz: dcat:mediaType is text/plain, expected text/turtle",
    ),
    "a wrong stream type": (
        lambda folder: replace(
            folder,
            "stax:hasStreamType stax:flatTripleStream",
            "stax:hasStreamType stax:flatQuadStream",
        ),
        "metadata",
        "the flat stream type of graphStream is flatTripleStream, not flatQuadStream",
    ),
    "an unlisted distribution": (
        lambda folder: replace(folder, 'hasFileName "jelly_full', 'hasFileName "jely_full'),
        "metadata",
        "the distribution jelly_full.jelly.gz is not listed",
    ),
    "a missing checksum": (
        remove_a_checksum,
        "metadata",
        r"flat_full.nt.gz: the md5 is missing \(spdx:checksum\)",
    ),
    "missing statistics": (
        remove_a_class,
        "metadata",
        "the statistics of the full distributions have no rb:SubjectCountStatistics",
    ),
    "a wrong maximum": (
        set_statistics("ObjectCountStatistics", "rb:maximum", "5"),
        "statistics",
        "rb:ObjectCountStatistics of the statistics of the full distributions: rb:maximum is 5, "
        "expected 4",
    ),
    "a wrong standard deviation": (
        set_statistics("StatementCountStatistics", "rb:standardDeviation", '"0.5"^^xsd:double'),
        "statistics",
        ".*: rb:standardDeviation is 0.5, expected 0",
    ),
    "a number of terms outside its bounds": (
        set_statistics("LiteralCountStatistics", "rb:uniqueCount", "30"),
        "statistics",
        ".*: rb:uniqueCount is not between its bounds",
    ),
    "a wrong byte density": (
        set_statistics("ByteDensityStatistics", "rb:mean", '"23.0"^^xsd:double'),
        "statistics",
        ".*: rb:mean is 23, expected .*",
    ),
    "a usage without a type": (
        lambda folder: replace(folder, "a stax:RdfStreamTypeUsage ; ", "", 9),
        "metadata",
        "flat_full.nt.gz: a stream type usage is not an instance of stax:RdfStreamTypeUsage",
    ),
    "a checksum without a type": (
        lambda folder: replace(folder, "a spdx:Checksum ; ", ""),
        "metadata",
        "flat_full.nt.gz: a checksum is not an instance of spdx:Checksum",
    ),
    "statistics without a type": (
        lambda folder: replace(folder, "a rb:StatisticsSet ;", ""),
        "metadata",
        "the statistics of the full distributions are not an instance of rb:StatisticsSet",
    ),
    "a sum of ratios": (
        set_statistics("ByteDensityStatistics", "rb:minimum", '"46.5"^^xsd:double ; rb:sum 5'),
        "statistics",
        "rb:ByteDensityStatistics .*: rb:sum is 5, expected none, since the numbers are ratios",
    ),
    "a wrong sum": (
        set_statistics("IriCountStatistics", "rb:sum", "59"),
        "statistics",
        "rb:IriCountStatistics .*: rb:sum is 59, expected 60",
    ),
    "duplicate statistics": (
        lambda folder: replace(
            folder,
            "[ a rb:IriCountStatistics",
            "[ a rb:IriCountStatistics ] , [ a rb:IriCountStatistics",
        ),
        "metadata",
        "the statistics of the full distributions have 2 nodes of rb:IriCountStatistics, expected one",
    ),
    "two sets of statistics": (
        lambda folder: replace(
            folder, "rb:hasStatisticsSet <", "rb:hasStatisticsSet <http://ex/other> , <"
        ),
        "metadata",
        "flat_full.nt.gz: rb:hasStatisticsSet has 2 values, expected one",
    ),
    "bounds that are too wide": (
        set_statistics("LiteralCountStatistics", "rb:uniqueCountUpperBound", "90"),
        "statistics",
        ".*: a bound of rb:uniqueCount .31 or 90. is more than four standard deviations from 31",
    ),
    "a wrong number of terms within its bounds": (
        count_more_terms,
        "statistics",
        ".*: rb:uniqueCount is 40, expected 31 .*",
    ),
    "a wrong number of triples": (
        lambda folder: replace(folder, "void:triples 48", "void:triples 47"),
        "statistics",
        "void:triples is 47, expected 48",
    ),
    "a wrong number of predicates": (
        lambda folder: replace(folder, "void:properties 4", "void:properties 5"),
        "statistics",
        "void:properties is 5, expected 4",
    ),
    "a wrong number of triples with a predicate": (
        lambda folder: replace(
            folder,
            "void:property <http://ex/p> ; void:triples 12",
            "void:property <http://ex/p> ; void:triples 11",
        ),
        "statistics",
        "void:triples of <http://ex/p> is 11, expected 12",
    ),
    "a wrong announcement": (
        change_the_announcement,
        "layout",
        "the file is announced as '1.2-basic', expected 1.1-messages or 1.2-messages",
    ),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_is_reported(damaged, name):
    damage, rule, sentence = DAMAGE[name]
    damage(damaged)
    found = findings(damaged)
    assert any(each[0] == rule and re.fullmatch(sentence, each[2]) for each in found), found
    checked = check(damaged, strict=True).run()
    assert not checked.ok


def test_only_the_damage_is_reported(damaged):
    change_a_message(damaged)
    # The two other files agree, and the statistics match their messages.
    assert [(rule, source) for rule, source, _ in findings(damaged)] == [
        ("different-message", "flat_full.nt.gz")
    ]


@pytest.mark.parametrize("name", ["flat_full.nt.gz", "jelly_full.jelly.gz", "stream_full.tar.gz"])
@pytest.mark.parametrize("index", [0, 4, 11])
def test_only_the_file_that_lacks_a_message_has_findings(damaged, name, index):
    def drop(messages):
        return [*messages[:index], *messages[index + 1 :]]

    if name.startswith("flat"):
        change(damaged, name, lambda data: without_message(data, index))
    elif name.startswith("jelly"):
        rewrite(damaged, name, jelly_of(damaged, drop))
    else:
        change(damaged, name, lambda data: archived(without_member(members(data), index)))
    found = findings(damaged)
    assert {source for _, source, _ in found} == {name}
    rules = [rule for rule, _, _ in found if rule != "layout"]
    assert rules == ["different-message"] * min(11 - index, 11) + ["message-count"]


def without_message(data, index):
    header, _, rest = data.partition(b"\n")
    texts = rest.split(b"MESSAGE\n")
    del texts[index]
    return header + b"\n" + b"MESSAGE\n".join(texts)


def without_member(files, index):
    """Returns an archive's files without one of them, renumbered."""
    texts = [text for number, text in enumerate(files.values()) if number != index]
    return {f"{number:010}.ttl": text for number, text in enumerate(texts)}


@pytest.mark.parametrize("name", ["flat_full.nt.gz", "jelly_full.jelly.gz", "stream_full.tar.gz"])
def test_an_extra_message_is_the_only_finding(damaged, name):
    if name.startswith("flat"):
        change(damaged, name, lambda data: data + b"MESSAGE\n<a:s> <a:p> <a:o> .\n")
    elif name.startswith("jelly"):
        rewrite(damaged, name, jelly_of(damaged, lambda found: [*found, found[0]]))
    else:
        change(
            damaged,
            name,
            lambda data: archived({**members(data), "0000000012.ttl": b"<a:s> <a:p> <a:o> ."}),
        )
    assert findings(damaged) == [("message-count", name, "expected 12 messages, found 13")]


def test_a_wrong_message_count_in_the_metadata_does_not_affect_statistics(damaged):
    path = damaged / "package_metadata.ttl"
    path.write_text(
        path.read_text().replace("rb:hasStreamElementCount 12", "rb:hasStreamElementCount 11")
    )
    assert [(rule, source) for rule, source, _ in findings(damaged)] == [
        ("message-count", "flat_full.nt.gz"),
        ("message-count", "stream_full.tar.gz"),
        ("message-count", "jelly_full.jelly.gz"),
    ]


def test_an_empty_flat_file_is_one_finding(damaged):
    rewrite(damaged, "flat_full.nt.gz", gzip.compress(b"", mtime=0))
    assert findings(damaged) == [
        ("message-count", "flat_full.nt.gz", "expected 12 messages, found 0")
    ]


def test_a_comment_before_the_announcement_is_accepted(damaged):
    change(damaged, "flat_full.nt.gz", lambda data: b"# made by hand\n\n" + data)
    assert findings(damaged) == []


def test_a_missing_plain_flat_file_does_not_change_the_byte_density(tmp_path):
    package(log_of(3), tmp_path / "p", stream_type="graphs", format="nt", plain_flat=True)
    (tmp_path / "p" / "flat_full.nt.gz").unlink()
    assert [rule for rule, _, _ in findings(tmp_path / "p")] == ["missing-file"]


def test_repeated_statements_in_a_plain_flat_file_count_once(tmp_path):
    package(log_of(12), tmp_path / "p", stream_type="graphs", format="nt", plain_flat=True)
    name = "flat_full.nt.gz"

    def repeat(data):
        lines = data.splitlines(keepends=True)
        return b"".join([*lines[:6], lines[4], *lines[6:]])  # in message 1

    change(tmp_path / "p", name, repeat)
    assert [found for found in findings(tmp_path / "p") if found[1] == name] == []
    rewrite(
        tmp_path / "p",
        "jelly_full.jelly.gz",
        jelly_of(tmp_path / "p", lambda found: [[*each, each[0]] for each in found]),
    )
    assert [found for found in findings(tmp_path / "p") if found[0] == "different-message"] == []


@pytest.mark.parametrize("kind", ["sample", "archive"])
def test_a_second_message_in_a_file_is_reported(damaged, kind):
    addition = b"\n# @message\n<a:s> <a:p> <a:o> .\n"
    if kind == "sample":
        path = damaged / "sample_0000000010.ttl"
        path.write_bytes(path.read_bytes() + addition)
    else:
        name = "0000000010.ttl"

        def edit(data):
            files = members(data)
            return archived({**files, name: files[name] + addition})

        change(damaged, "stream_full.tar.gz", edit)
    assert [rule for rule, _, _ in findings(damaged)] == ["different-message"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["flat_10K.nt.gz", "stream_10K.tar.gz", "jelly_10K.jelly.gz"])
def test_an_extra_message_in_a_partial_distribution_is_reported(tmp_path, name):
    lines = [f'<http://ex/{i}> <http://ex/p> "{i % 10}" .\n' for i in range(10_001)]
    log = "# @message\n".join(lines).encode()
    package(log, tmp_path / "p", stream_type="graphs", format="nt")
    full = tmp_path / "p" / name.replace("10K", "full")
    rewrite(tmp_path / "p", name, full.read_bytes())
    found = findings(tmp_path / "p")
    assert ("message-count", name, "expected 10,000 messages, found 10,001") in found
    # Member names are the same as for 10,000 messages, so no other finding is reported.
    assert {source for _, source, _ in found} == {name}


@pytest.mark.parametrize(
    ("label", "rdf12", "uses", "text"),
    [
        (
            b"1.1-messages",
            True,
            True,
            "error: the file is announced as '1.1-messages', but contains",
        ),
        (b"1.1", True, True, "error: the file is announced as '1.1', but contains triple terms or"),
        (
            b"1.2-messages",
            False,
            False,
            "warning: the file is announced as '1.2-messages', but RDF",
        ),
        (b"1.2-messages", True, False, None),
    ],
)
def test_the_announcement_must_match_the_terms(tmp_path, label, rdf12, uses, text):
    folder = tmp_path / "p"
    value = b'"x"@en--ltr' if uses else b'"x"@en'
    package(b"<a:s> <a:p> %s ." % value, folder, stream_type="graphs", format="nt", rdf12=rdf12)
    name = "flat_full.nt.gz"
    written_label = b"1.2-messages" if rdf12 else b"1.1-messages"
    if written_label != label:
        change(folder, name, lambda data: data.replace(written_label, label, 1))
    found = [f"{each.severity}: {each.text}" for each in check(folder) if each.rule == "layout"]
    assert len(found) == (text is not None)
    assert all(each.startswith(text) for each in found), found


def test_jelly_flags_must_match_the_metadata(damaged):
    flags = {"generalized": True, "rdf_star": True}
    rewrite(damaged, "jelly_full.jelly.gz", jelly_of(damaged, **flags))
    assert findings(damaged) == []  # nothing is declared
    path = damaged / "package_metadata.ttl"
    path.write_text(path.read_text() + f"<{riverbench.DATASET}> rb:usesRdfStar false .\n")
    assert [(found.severity, found.text) for found in check(damaged)] == [
        (
            "warning",
            f"the stream option {name} is true, but the dataset does not declare {feature}",
        )
        for name, feature in (("rdf_star", "triple terms"), ("generalized", "generalized RDF"))
    ]
    path.write_text(path.read_text().replace("rb:usesRdfStar false", "rb:usesRdfStar true"))
    rewrite(damaged, "jelly_full.jelly.gz", jelly_of(damaged))
    assert [(found.severity, found.text) for found in check(damaged)] == [
        ("error", "the stream option rdf_star is false, but the dataset declares triple terms")
    ]


def test_nonzero_modification_times_in_archives_are_reported(damaged):
    def edit(data):
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w") as archive:
            for number, (name, text) in enumerate(members(data).items()):
                entry = tarfile.TarInfo(name)
                entry.size, entry.mtime = len(text), 0 if number < 7 else 1_700_000_000
                archive.addfile(entry, io.BytesIO(text))
        return out.getvalue()

    change(damaged, "stream_full.tar.gz", edit)
    assert [(each.severity, each.rule, each.text) for each in check(damaged)] == [
        (
            "warning",
            "layout",
            "the modification time of 0000000007.ttl is 1700000000, expected 0",
        )
    ]


def add_metadata_copy(folder, name, format, edit=lambda quads: quads):
    """Renames the metadata and adds a copy in another format, as in releases."""
    (folder / "package_metadata.ttl").rename(folder / "metadata.ttl")
    with rdfm.open_log(folder / "metadata.ttl") as log:
        quads = [quad for message in log for quad in message]
    with rdfm.create_log(folder / name, format) as log:
        log.write(edit(quads))


@pytest.mark.parametrize(
    ("name", "format"),
    [("metadata.nt", "nt"), ("metadata.jelly", "jelly"), ("metadata.rdf", "rdfxml")],
)
def test_equal_metadata_in_another_format_is_accepted(damaged, name, format):
    add_metadata_copy(damaged, name, format)
    assert findings(damaged) == []


def test_different_metadata_in_another_format_is_reported(damaged):
    add_metadata_copy(damaged, "metadata.nt", "nt", lambda quads: quads[1:])
    assert findings(damaged) == [
        ("metadata", "metadata.nt", "the triples differ from those of metadata.ttl")
    ]


def test_the_declared_number_of_messages_is_compared(damaged, tmp_path):
    source = tmp_path / "metadata.ttl"
    source.write_text(
        "@prefix rb: <https://w3id.org/riverbench/schema/metadata#> .\n"
        "@prefix stax: <https://w3id.org/stax/ontology#> .\n"
        "<> a rb:Dataset ; rb:hasStreamElementCount 13 ;\n"
        "stax:hasStreamTypeUsage [ stax:hasStreamType stax:graphStream ] .\n"
    )
    assert findings(damaged, metadata=source) == [
        (
            "metadata",
            "package_metadata.ttl",
            f"the full distribution has 12 messages, but {source} declares 13",
        )
    ]


def test_errors_recommend_only_options_of_check(damaged):
    change(
        damaged,
        "flat_full.nt.gz",
        lambda data: data.replace(b"<http://ex/3> <http://ex/p>", b'"l" <http://ex/p>'),
    )
    (found,) = check(damaged)
    assert found.render() == "a literal is used as the subject"
    found = next(each for each in check(damaged, max_message_bytes=64) if each.rule == "limit")
    assert "max_message_bytes" in found.render()


def test_checking_continues_with_another_file_after_an_error(damaged):
    path = damaged / "flat_full.nt.gz"
    path.write_bytes(path.read_bytes()[:-60])
    rewrite(
        damaged, "jelly_full.jelly.gz", jelly_of(damaged, lambda found: [*found[:-1], found[0]])
    )
    rules = {(rule, source) for rule, source, _ in findings(damaged)}
    assert ("truncated", "flat_full.nt.gz") in rules
    assert ("different-message", "stream_full.tar.gz") in rules
    assert ("message-count", "jelly_full.jelly.gz") not in rules
    assert check(damaged).run().messages == 12


def test_many_different_messages_are_counted(damaged):
    change(damaged, "jelly_full.jelly.gz", lambda data: data.replace(b"http://ex/", b"http://ey/"))
    texts = [text for _, source, text in findings(damaged) if source == "jelly_full.jelly.gz"]
    assert len(texts) == 11
    assert texts[-1] == "2 more messages differ from those of other files"


def test_messages_in_an_archive_are_identified_by_number(tmp_path):
    valid = "<http://ex/s> <http://ex/p> <http://ex/o> <http://ex/g> .\n"
    texts = [valid, valid, "<http://ex/s> <http://ex/p> <http://ex/o> .\n"]
    riverbench.write_package(tmp_path / "p", texts, "namedGraphStream")
    for name in ("flat_full.nq.gz", "jelly_full.jelly.gz"):
        (tmp_path / "p" / name).write_bytes(gzip.compress(b"oops"))
    found = [each for each in check(tmp_path / "p") if each.rule == "stream-type"]
    assert [(each.source.rpartition("/")[2], each.message_index) for each in found] == [
        ("stream_full.tar.gz", 2)
    ]


@pytest.mark.parametrize(
    ("extra", "sentence"),
    [
        ("", "the message has no named graph, expected exactly one"),
        (
            "<http://ex/s> <http://ex/p> <http://ex/o> <http://ex/g1> .\n"
            "<http://ex/s> <http://ex/p> <http://ex/o> <http://ex/g2> .\n",
            "the message has 2 named graphs, expected exactly one",
        ),
    ],
)
def test_a_message_that_violates_the_stream_type_is_reported(tmp_path, extra, sentence):
    valid = "<http://ex/s> <http://ex/p> <http://ex/o> <http://ex/g> .\n"
    texts = [valid, extra or "<http://ex/s> <http://ex/p> <http://ex/o> .\n", valid]
    riverbench.write_package(tmp_path / "p", texts, "namedGraphStream")
    found = list(check(tmp_path / "p"))
    assert [(each.rule, each.message_index, each.text) for each in found] == [
        ("stream-type", 1, sentence)
    ]


def test_the_metadata_of_the_source_adds_rules(tmp_path):
    text = "<http://ex/g> <http://ex/time> {} .\n<http://ex/s> <http://ex/p> <http://ex/o> <http://ex/g> .\n"
    texts = [
        text.format('"2026-01-01"'),
        text.format('"2026-01-02", "2026-01-03"').split(" .\n")[1] + " .\n",
    ]
    riverbench.write_package(tmp_path / "p", texts, "namedGraphStream")
    assert findings(tmp_path / "p") == []
    source = tmp_path / "metadata.ttl"
    source.write_text(
        "@prefix rb: <https://w3id.org/riverbench/schema/metadata#> .\n"
        "@prefix stax: <https://w3id.org/stax/ontology#> .\n"
        "<> a rb:Dataset ; stax:hasStreamTypeUsage [ stax:hasStreamType stax:namedGraphStream ] ;\n"
        "rb:hasStreamElementSplit [ rb:hasTemporalProperty <http://ex/time> ] .\n"
    )
    assert findings(tmp_path / "p", metadata=source) == [
        (
            "stream-type",
            "flat_full.nq.gz",
            "the message has no value of the time property 'http://ex/time' for its graph 'http://ex/g' "
            "in the default graph, expected exactly one",
        )
    ]


def test_errors_can_be_limited(damaged):
    change(damaged, "jelly_full.jelly.gz", lambda data: data.replace(b"http://ex/", b"http://ey/"))
    checked = check(damaged, max_errors=2)
    assert len(list(checked)) == 2
    assert checked.stopped


def test_a_file_is_not_a_package(tmp_path):
    path = tmp_path / "a.nt"
    path.write_text("")
    with pytest.raises(rdfm.OptionError, match="expected the folder of a package"):
        check(path)


def test_the_announcement_in_the_documentation_is_accepted(damaged):
    change(damaged, "flat_full.nt.gz", lambda data: data.replace(b'"1.1-messages"', b'"1.1"', 1))
    assert findings(damaged) == []
