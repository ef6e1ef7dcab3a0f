"""Benchmark of trusty URIs: rdfm on two cores, and the Java library org.nanopub:nanopub on one.

Both sides verify the same nanopublications of 34 quads, which were parsed beforehand. Without java,
javac and mvn, the Java side is omitted with a note.
"""

from __future__ import annotations

import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from jvm import java_classpath

__all__ = ["trusty_uris"]

# A placeholder for an artifact code that is not yet known, with the same length.
UNKNOWN = "RA" + "0" * 43
NP = "http://www.nanopub.org/nschema#"
RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"


def nanopub(number: int) -> str:
    """A nanopublication of 34 quads as N-Quads, about 8 kB, with a placeholder for the code."""
    base = f"http://example.org/np/{UNKNOWN}"
    observation = f"http://example.org/observations/{number}"
    quads = [
        (base, RDF_TYPE, f"<{NP}Nanopublication>", "head"),
        (base, NP + "hasAssertion", f"<{base}/assertion>", "head"),
        (base, NP + "hasProvenance", f"<{base}/provenance>", "head"),
        (base, NP + "hasPublicationInfo", f"<{base}/info>", "head"),
    ]
    for at in range(20):
        value = f'"{"observed at the lake before sunrise, " * 2}{number} {at}"@en'
        quads.append(
            (f"{observation}/{at % 5}", f"http://example.org/vocabulary#p{at}", value, "assertion")
        )
    for at in range(4):
        quads.append(
            (
                f"{base}/assertion",
                f"http://www.w3.org/ns/prov#p{at}",
                f"<{observation}>",
                "provenance",
            )
        )
    for at in range(6):
        quads.append((base, f"http://purl.org/dc/terms/p{at}", f'"{number} {at}"', "info"))
    return "".join(f"<{s}> <{p}> {o} <{base}/{graph}> .\n" for s, p, o, graph in quads)


def generate(path: Path, count: int) -> None:
    """Writes nanopublications with their trusty URIs."""
    import rdfm
    from rdfm.nanopub import trusty

    texts = [nanopub(number) for number in range(count)]
    with rdfm.open_log("# @message\n".join(texts).encode(), "nq") as log:
        codes = [trusty.artifact_code(message, UNKNOWN) for message in log]
    filled = [text.replace(UNKNOWN, code) for text, code in zip(texts, codes, strict=True)]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("# @message\n".join(filled))


def java_rate(path: Path, seconds: float) -> float | None:
    """Trusty URIs per second with the Java library on one thread; None if it cannot run."""
    if (classpath := java_classpath("nanopub")) is None:
        return None
    command = ["java", "-XX:+UseSerialGC", "-cp", classpath, "Nanopubs", "time", path, str(seconds)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(done.stdout)


def trusty_uris(folder: Path, quick: bool) -> dict[str, Any]:
    """Trusty URIs per second that rdfm verifies on two threads, compared with the Java library."""
    import rdfm
    from rdfm.nanopub import trusty

    count = 500 if quick else 10_000
    path = folder / "trusty.nq"
    if not path.exists():
        generate(path, count)
    with rdfm.open_log(path) as log:
        batches = list(log.batches())
    seconds = []
    with ThreadPoolExecutor(2) as threads:
        for _ in range(10):
            start = time.perf_counter()
            reasons = [reason for found in threads.map(trusty.verify, batches) for reason in found]
            seconds.append(time.perf_counter() - start)
            assert reasons == [None] * count
    java = java_rate(path, 1 if quick else 5)
    peer = "absent: it needs java, javac and mvn" if java is None else f"{java:,.0f} on one thread"
    return {
        "task": f"trusty URIs of {count:,} nanopublications of 34 quads; org.nanopub:nanopub 1.34: {peer}",
        "value": count / min(seconds) / 1e3,
        "unit": "k URIs/s on two threads",
        "target": 40,
        "at_most": False,
    }
