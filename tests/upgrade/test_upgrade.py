"""Files that released versions wrote are still read, and interrupted work continues."""

import shutil

import pytest
import registry_double
from released_files import (
    REGISTRY,
    RELEASES,
    ROOT,
    SOURCES,
    message,
    stat_without_inode,
)

import rdfm
from rdfm import nanopub
from rdfm.logs import journal

VERSIONS = [path for path in RELEASES.iterdir() if path.name[0].isdigit()]
LOGS = [log for version in VERSIONS for log in sorted((version / "logs").iterdir())]
INTERRUPTED = [
    log
    for version in VERSIONS
    for log in sorted((version / "interrupted").iterdir())
    if log.suffix != ".append"
]


def name_of(path):
    return str(path.relative_to(RELEASES))


def test_the_files_of_the_first_release_are_present():
    assert RELEASES / "0.1.0" in VERSIONS
    assert len(LOGS) > 25
    assert len(INTERRUPTED) >= 5


@pytest.mark.parametrize("log", LOGS, ids=name_of)
def test_a_log_has_the_same_content(log, tmp_path):
    kind = log.name.split(".")[0].removeprefix("one-").removesuffix("-columns")
    source = ROOT / "spec-fixtures" / SOURCES[kind]
    if log.name.startswith("one-"):
        rdfm.convert(source, tmp_path / "one.nq", take=1)
        source = tmp_path / "one.nq"
    assert rdfm.diff(source, log).equal


def numbers(log):
    with rdfm.open_log(log) as reader:
        return [int(quads[0].object.value) for quads in reader]


@pytest.mark.parametrize("log", INTERRUPTED, ids=name_of)
def test_appending_continues_after_an_interrupted_run(log, tmp_path, monkeypatch):
    for path in (log, log.with_name(log.name + ".append")):
        shutil.copy(path, tmp_path)
    monkeypatch.setattr(journal.os, "fstat", stat_without_inode)
    monkeypatch.setattr(journal.os.path, "samestat", lambda first, second: True)
    copy = tmp_path / log.name
    assert numbers(copy) == [0]
    with rdfm.create_log(copy, append=True) as opened:
        opened.write(message(5))
    assert numbers(copy) == [0, 5]
    assert not (tmp_path / f"{log.name}.append").exists()


@pytest.mark.parametrize("version", VERSIONS, ids=name_of)
def test_a_mirror_continues_from_its_state(version, tmp_path):
    for path in (version / "mirror").iterdir():
        shutil.copy(path, tmp_path)
    state = tmp_path / "mirror.jelly.state.json"
    with registry_double.registry(10) as registry:
        state.write_text(state.read_text("utf-8").replace(REGISTRY, registry.url))
        registry.add(2)
        result = nanopub.fetch(registry.url, tmp_path / "mirror.jelly")
    assert result.messages == 2
    with rdfm.open_log(tmp_path / "mirror.jelly") as log:
        assert sum(1 for _ in log) == 12
