"""Peers are programs in other languages, fetched into build/peers once.

Most peers run in one process for all tests. They use the line protocol that jvm/Peer.java,
Patches.java, Results.java and Queries.java describe.
"""

import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from nquads import read_quads
from support import ROOT

HERE = Path(__file__).resolve().parent
BUILD = ROOT / "build" / "peers"
JVM_OPTIONS = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx1g")
DELIMITER = "--- message\n"


class Peer:
    """A running peer, which reads and writes files."""

    def __init__(self, command: list[str | Path], folder: Path, **environment: str) -> None:
        self.folder = folder
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
            env={**os.environ, **environment},
        )

    def convert(self, data: bytes, source: str, target: str, *options: object) -> bytes:
        """Converts `data` with the peer, from one of its formats to another.

        Raises:
            ValueError: If the peer reports an error. The text is that of the peer.
        """
        source_path, target_path = self.folder / "in", self.folder / "out"
        source_path.write_bytes(data)
        fields = (source_path, source, target_path, target, *options)
        self.process.stdin.write("\t".join(map(str, fields)) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        if answer != "ok":
            raise ValueError(answer or "the peer ended")
        return target_path.read_bytes()

    def messages(self, data: bytes, source: str) -> list[list[tuple]]:
        """Returns the messages that the peer reads."""
        text = self.convert(data, source, "messages").decode()
        return [read_quads(part) for part in text.split(DELIMITER)[1:]]

    def quads(self, data: bytes, source: str) -> list[tuple]:
        """Returns the quads that the peer reads from one document."""
        return read_quads(self.convert(data, source, "nq").decode())

    def close(self) -> None:
        self.process.stdin.close()
        assert self.process.wait(timeout=30) == 0
        self.process.stdout.close()


def require_programs(*programs: str) -> None:
    missing = [program for program in programs if not shutil.which(program)]
    if missing:
        pytest.skip(f"no {' and no '.join(missing)} on this machine")


def run(*command: str | Path, cwd: Path) -> None:
    completed = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    if completed.returncode:
        command_line = " ".join(map(str, command))
        pytest.fail(
            f"{command_line}\n{completed.stdout[-3000:]}{completed.stderr[-3000:]}", pytrace=False
        )


def peer_folder(name: str, files: list[Path], prepare: Callable[[Path], None]) -> Path:
    """Returns the folder of a peer. Rebuilds the folder if one of the `files` has changed."""
    folder, stamp = BUILD / name, BUILD / name / "made-from"
    digest = hashlib.sha256(b"\0".join(path.read_bytes() for path in files)).hexdigest()
    if not stamp.exists() or stamp.read_text() != digest:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        prepare(folder)
        stamp.write_text(digest)
    return folder


@pytest.fixture(scope="session")
def classpath() -> str:
    """The class path of the programs in jvm."""
    require_programs("java", "javac", "mvn")
    pom, *programs = HERE / "jvm" / "pom.xml", *sorted((HERE / "jvm").glob("*.java"))

    def prepare(folder: Path) -> None:
        goal = ("dependency:copy-dependencies", "-DincludeScope=runtime")
        run("mvn", "-q", "-B", "-f", pom, *goal, f"-DoutputDirectory={folder}/lib", cwd=folder)
        classpath = ("-cp", f"{folder}/lib/*")
        run("javac", "--release", "17", *classpath, "-d", folder / "classes", *programs, cwd=folder)

    folder = peer_folder("jvm", [pom, *programs], prepare)
    return os.pathsep.join([f"{folder}/classes", f"{folder}/lib/*"])


@pytest.fixture(scope="session")
def jvm(classpath: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Peer]:
    """A running peer with Jena and Jelly-JVM."""
    peer = Peer(["java", *JVM_OPTIONS, "-cp", classpath, "Peer"], tmp_path_factory.mktemp("jvm"))
    yield peer
    peer.close()


class LivePeer:
    """A client and a server of Jelly gRPC in Java; jvm/Live.java describes the requests."""

    def __init__(self, classpath: str) -> None:
        self.process = subprocess.Popen(
            ["java", *JVM_OPTIONS, "-cp", classpath, "Live"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )

    def begin(self, *fields: object) -> None:
        self.process.stdin.write("\t".join(map(str, fields)) + "\n")
        self.process.stdin.flush()

    def answer(self) -> tuple[str, str]:
        """Returns the status of a request, and the text after the status."""
        status, _, text = self.process.stdout.readline().strip().partition(" ")
        return status, text

    def ask(self, *fields: object) -> tuple[str, str]:
        self.begin(*fields)
        return self.answer()

    def close(self) -> None:
        self.process.kill()
        self.process.wait(30)
        self.process.stdin.close()
        self.process.stdout.close()


@pytest.fixture
def live(classpath: str) -> Iterator[LivePeer]:
    """A running client and server of Jelly gRPC in Java."""
    peer = LivePeer(classpath)
    yield peer
    peer.close()


@pytest.fixture(scope="session")
def nanopub_java() -> Callable[[list[Path]], list[str]]:
    """A function that returns the verdicts of the Java nanopublication library, one per file."""
    require_programs("java", "javac", "mvn")
    pom, program = HERE / "nanopub" / "pom.xml", HERE / "nanopub" / "Nanopubs.java"

    def prepare(folder: Path) -> None:
        goal = ("dependency:copy-dependencies", "-DincludeScope=runtime")
        run("mvn", "-q", "-B", "-f", pom, *goal, f"-DoutputDirectory={folder}/lib", cwd=folder)
        classpath = ("-cp", f"{folder}/lib/*")
        run("javac", "--release", "17", *classpath, "-d", folder / "classes", program, cwd=folder)

    folder = peer_folder("nanopub", [pom, program], prepare)
    classpath = os.pathsep.join([f"{folder}/classes", f"{folder}/lib/*"])

    def verdicts(paths: list[Path]) -> list[str]:
        command = ["java", "-XX:+UseSerialGC", "-cp", classpath, "Nanopubs", "check", *paths]
        completed = subprocess.run(command, capture_output=True, text=True, check=True)
        return completed.stdout.splitlines()

    return verdicts


@pytest.fixture(scope="session")
def node_modules() -> Path:
    """The folder with the packages of Node."""
    require_programs("node", "npm")
    files = [HERE / "node" / name for name in ("package.json", "package-lock.json")]

    def prepare(folder: Path) -> None:
        for path in files:
            shutil.copy(path, folder)
        run("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", cwd=folder)

    return peer_folder("node", files, prepare) / "node_modules"


@pytest.fixture(scope="session")
def node(node_modules: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Peer]:
    """A running peer with N3.js and jsonld.js."""
    peer = Peer(
        ["node", HERE / "node" / "peer.js"],
        tmp_path_factory.mktemp("node"),
        NODE_PATH=str(node_modules),
    )
    yield peer
    peer.close()
