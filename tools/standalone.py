"""Builds a folder with the command rdfm that needs no Python, tests it, and packs it in dist.

In: a wheel, by default the one in dist. Out: `dist/rdfm-VERSION-SYSTEM-MACHINE.tar.xz`, or `.zip` on
Windows. The folder has the Python that runs this program, and the packages that rdfm requires, with
the versions in the lock files. Optional packages, such as pyarrow, are not included.
"""

import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build/standalone"
DIST = ROOT / "dist"
MAX_BYTES = 30_000_000
WINDOWS = os.name == "nt"
START = (
    "import multiprocessing\nfrom rdfm.cli import main\nmultiprocessing.freeze_support()\nmain()\n"
)


def name_of(requirement: str) -> str:
    return re.sub(r"[-_.]+", "-", re.split(r"[^\w.-]", requirement, maxsplit=1)[0]).lower()


def locked(lock: str, names: set[str]) -> str:
    """The entries of a lock file with these names."""
    entries = re.split(r"\n(?=\S)", (ROOT / lock).read_text("utf-8").strip())
    return "\n".join(entry for entry in entries if name_of(entry) in names)


def requirements() -> str:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    own = {name_of(requirement) for requirement in project["dependencies"]} | {"colorama"}
    tool = {"pyinstaller", "pyinstaller-hooks-contrib", "altgraph", "packaging", "setuptools"}
    tool |= {"macholib", "pefile", "pywin32-ctypes"}
    return f"{locked('requirements.lock', own)}\n{locked('requirements-checks.lock', tool)}\n"


def build(wheel: Path) -> Path:
    """Build the folder, and return it."""
    shutil.rmtree(BUILD, ignore_errors=True)
    venv.create(BUILD / "env", with_pip=True)
    python = BUILD / "env" / ("Scripts/python.exe" if WINDOWS else "bin/python")
    (BUILD / "requirements.txt").write_text(requirements(), "utf-8")
    (BUILD / "start.py").write_text(START, "utf-8")
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--require-hashes", "-r", BUILD / "requirements.txt"], check=True)
    subprocess.run([*pip, "--no-deps", wheel], check=True)
    folders = [
        f"--distpath={BUILD / 'dist'}",
        f"--workpath={BUILD / 'work'}",
        f"--specpath={BUILD}",
    ]
    options = ["--collect-submodules=rdfm", "--collect-data=rdfm", "--copy-metadata=rdfm"]
    program = [python, "-m", "PyInstaller", "--noconfirm", "--log-level=ERROR", "--name=rdfm"]
    subprocess.run([*program, *options, *folders, BUILD / "start.py"], check=True)
    folder = BUILD / "dist/rdfm"
    for name in ("LICENSE", "THIRD_PARTY_NOTICES.txt"):
        shutil.copy(ROOT / name, folder)
    shutil.copytree(BUILD / "env/share", folder / "share", dirs_exist_ok=True)
    return folder


def try_out(folder: Path) -> None:
    """Convert, query and check a log without environment variables, from another folder."""
    log = ROOT / "spec-fixtures/nanopubs/log.trig"
    variables = {"SYSTEMROOT": os.environ["SYSTEMROOT"]} if WINDOWS else {}
    with tempfile.TemporaryDirectory() as name:
        copy = Path(name) / "moved"
        shutil.copytree(folder, copy, symlinks=True)

        def rdfm(*arguments: str | Path) -> str:
            command = [copy / ("rdfm.exe" if WINDOWS else "rdfm"), *arguments]
            done = subprocess.run(command, cwd=name, env=variables, capture_output=True, text=True)
            if done.returncode:
                raise SystemExit(f"rdfm {' '.join(map(str, arguments))}: {done.stderr}")
            return done.stdout

        rdfm("convert", log, "log.jelly.zst", "--jobs", "2")
        rdfm("convert", "log.jelly.zst", "log.nq.gz")
        rdfm("diff", log, "log.nq.gz")
        rdfm("validate", "log.nq.gz")
        query = "SELECT (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } }"
        found = rdfm("query", "--whole", query, "log.nq.gz", "--to", "results-csv", "--quiet")
        if found.split() != ["n", "35"]:
            raise SystemExit(f"the query found {found}")
        for names in ([], ["convert"], ["patch", "apply"], ["serve"], ["nanopub", "fetch"]):
            rdfm("help", *names)
        rdfm("inspect", log, "--html", "log.html")
        rdfm("completion", "bash")


def main() -> None:
    wheels = [Path(name) for name in sys.argv[1:]] or sorted(DIST.glob("rdfm-*.whl"))
    if len(wheels) != 1:
        raise SystemExit("give one wheel; make wheel writes it to dist")
    folder = build(wheels[0].resolve())
    try_out(folder)
    version = wheels[0].name.split("-")[1]
    name = f"rdfm-{version}-{platform.system()}-{platform.machine()}".lower()
    named = folder.rename(folder.with_name(name))
    DIST.mkdir(exist_ok=True)
    kind = "zip" if WINDOWS else "xztar"
    archive = Path(shutil.make_archive(str(DIST / name), kind, named.parent, named.name))
    if archive.stat().st_size > MAX_BYTES:
        raise SystemExit(f"{archive.name}: {archive.stat().st_size} bytes, more than {MAX_BYTES}")
    print(f"{archive.relative_to(ROOT)}: {archive.stat().st_size} bytes, runs without Python")


if __name__ == "__main__":
    main()
