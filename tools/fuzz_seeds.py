"""Collects seeds for fuzzing: spec-fixtures, conformance suites (if they exist) and archives.

    .venv/bin/python tools/fuzz_seeds.py

Copies each file to the corpus (fuzz/corpus/TARGET) of every target for the suffix of the file. The
name of a seed is a hash of its content, so running the script again changes nothing. RDFM_SHARED
names the folder with the suites, as in the tests.
"""

from __future__ import annotations

import hashlib
import io
import os
import tarfile
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from rdfm import _core

ROOT = Path(__file__).parent.parent
CORPUS = ROOT / "fuzz" / "corpus"
SHARED = Path(os.environ.get("RDFM_SHARED", ROOT.parent / "shared"))
# Additional targets by suffix: targets that are not formats, and formats that can read such a log.
MORE = {
    "nt": ("nq", "ttl", "trig", "regroup"),
    "nq": ("nt", "splits", "analysis"),
    "ttl": ("trig", "regroup"),
    "trig": ("ttl", "regroup", "analysis"),
    "jsonld": ("ndjsonld",),
    "yamlld": ("yaml_block",),
    "xml": ("rdfxml",),
    "tar": ("archive",),
    "rdfp": ("analysis",),
    "rq": ("query",),
}
# Longer inputs would be truncated to the maximum input size of the targets (-max_len).
MAX_BYTES = 4096


def seed_files() -> Iterator[tuple[str, bytes]]:
    """The name and content of every seed file, including those in the archives of the suites."""
    for folder in (ROOT / "spec-fixtures", SHARED / "conformance"):
        for path in sorted(folder.rglob("*")):
            if path.name.endswith(".tar.gz"):
                with tarfile.open(path) as archive:
                    for member in archive:
                        if file := archive.extractfile(member):
                            yield member.name, file.read()
            elif path.is_file():
                yield path.name, path.read_bytes()


def archives() -> Iterator[tuple[str, bytes]]:
    """A small tar archive in each form, with a member of each kind."""
    for form in (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
        for name, kind, data in (
            ("a.nq", tarfile.REGTYPE, b"<a:s> <a:p> <a:o> ."),
            (f"{'x' * 80}/{'y' * 60}.nq", tarfile.REGTYPE, b"1"),
            ("x", tarfile.DIRTYPE, b""),
            ("x/b.nq", tarfile.SYMTYPE, b""),
            ("x/b.nq", tarfile.AREGTYPE, b""),
        ):
            file = io.BytesIO()
            with tarfile.open(fileobj=file, mode="w", format=form) as out:
                member = tarfile.TarInfo(name)
                member.type, member.size = kind, len(data)
                out.addfile(member, io.BytesIO(data))
            # This omits the zeros that pad a record.
            yield "archive.tar", file.getvalue()[:MAX_BYTES]


def main() -> None:
    """Writes the seeds and prints the number for each target."""
    seeds: Counter[str] = Counter()
    specs = [_core.format_spec(name) for name in _core.format_names()]
    for name, content in chain(seed_files(), archives()):
        suffix = name.rpartition(".")[2]
        targets = {spec["name"] for spec in specs if f".{suffix}" in spec["suffixes"]}
        targets.update(MORE.get(suffix, ()))
        for target in (*targets, "sniff") if targets else ():
            path = CORPUS / target / f"seed-{hashlib.sha256(content).hexdigest()[:16]}"
            path.parent.mkdir(parents=True, exist_ok=True)
            if len(content) <= MAX_BYTES and not path.exists():
                path.write_bytes(content)
            seeds[target] += path.exists()
    print("seeds:", ", ".join(f"{target} {count}" for target, count in sorted(seeds.items())))


if __name__ == "__main__":
    main()
