r"""Checks the documentation: links lead somewhere, code blocks run and print what they show.

In: the Markdown files at the root and under docs. Each file's blocks run in order, in a folder of
their own where `spec-fixtures` stands ready, so that a later block can use what an earlier made.

- ```python blocks run in one interpreter a file; with `>>>` they are doctests.
- ```console blocks: `$ ` lines run in bash (a line that ends with a backslash or opens a
  here-document goes on), the lines after them are the output, both streams. `…` stands for any
  text; times and rates may differ. Commands that set up a machine (make, git, pip, apt,
  python -m venv) are not run.
- a ```python block whose first line is `# needs NAME` is left out where that package is absent; one
  that needs pyspark gets a Java, and Python workers of this interpreter.
- `<!-- not run: REASON -->` before a block leaves it out.

With arguments checks these files only. Ends with status 1 where anything differs.
"""

import doctest
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import spark_environment

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(
    r"(?P<skip><!-- not run: [^>]+ -->\s*)?^```(?P<kind>\w+)[^\n]*\n(?P<text>.*?)^```$", re.M | re.S
)
TIMES = re.compile(r"\d[\d.,]*(?= (?:ms|s|[kMG]?B/s|(?:[kM] )?(?:quads|messages)/s)\b)")
NEEDS = re.compile(r"# needs (\w+)")
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
NOT_RUN = re.compile(r"(make|git|pip|apt|apt-get|python3? -m (venv|pip)|cd|source|rustup|cargo)\b")
DOCTEST = """
_test = _doctest.DocTestParser().get_doctest({block!r}, globals(), "docs", None, 0)
_runner = _doctest.DocTestRunner(optionflags={flags})
_test.globs = globals()
_failed += _runner.run(_test, clear_globs=False).failed
"""


def anchors(markdown: str) -> set[str]:
    """The anchors of a file's headings, as GitHub names them."""
    found = set()
    for heading in re.findall(r"^#+ +(.+?)\s*$", markdown, re.M):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        found.add(re.sub(r"[^\w\- ]", "", plain).replace(" ", "-"))
    return found


def link_errors(path: Path, markdown: str) -> list[str]:
    errors = []
    prose = re.sub(r"^```.*?^```$", "", markdown, flags=re.M | re.S)
    for link in LINK.findall(prose):
        if re.match(r"[a-z]+:", link):
            continue
        target, _, anchor = link.partition("#")
        file = (path.parent / target).resolve() if target else path
        if not file.exists():
            errors.append(f"{path.relative_to(ROOT)}: the link {link} leads nowhere")
        elif anchor and file.suffix == ".md" and anchor not in anchors(file.read_text("utf-8")):
            errors.append(f"{path.relative_to(ROOT)}: {link} names no heading there")
    return errors


def steps(block: str) -> list[tuple[str, str]]:
    """Commands and the output shown after each."""
    found: list[tuple[list[str], list[str]]] = []
    until: str | None = None
    for line in block.splitlines():
        goes_on = found and not found[-1][1] and found[-1][0][-1].endswith("\\")
        if until is not None:
            found[-1][0].append(line)
            until = None if line == until else until
        elif line.startswith("$ "):
            found.append(([line[2:]], []))
        elif goes_on:
            found[-1][0].append(line.removeprefix("> "))
        elif found:
            found[-1][1].append(line)
        opened = found and re.search(r"<<-?\s*'?(\w+)'?", found[-1][0][-1])
        if opened and until is None and line.startswith("$ "):
            until = opened[1]
    return [("\n".join(command), "\n".join(output).strip()) for command, output in found]


def same(shown: str, printed: str) -> bool:
    parts = re.split(r"…|^\.\.\.$", TIMES.sub("0", shown), flags=re.M)
    tidy = "\n".join(line.rstrip() for line in TIMES.sub("0", printed).split("\n")).strip()
    return re.fullmatch(".*?".join(map(re.escape, parts)), tidy, re.S) is not None


def console_errors(block: str, folder: Path) -> list[str]:
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "100",
    }
    errors = []
    for command, shown in steps(block):
        if NOT_RUN.match(command):
            continue
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=120,
        )
        printed = done.stdout.decode("utf-8", "replace")
        if not same(shown, printed):
            errors.append(f"$ {command}\n--- shown\n{shown}\n--- printed\n{printed.strip()}")
    return errors


def python_script(blocks: list[str]) -> str:
    """One script of a file's Python blocks; those with prompts as doctests of it."""
    parts = ["import doctest as _doctest, sys as _sys\n_failed = 0\n"]
    for block in blocks:
        if ">>>" in block:
            flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
            parts.append(DOCTEST.format(block=block, flags=flags))
        else:
            parts.append(block)
    parts.append("_sys.exit(bool(_failed))\n")
    return "\n".join(parts)


def block_errors(path: Path, markdown: str) -> list[str]:
    errors: list[str] = []
    python: list[str] = []
    variables = dict(os.environ)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "spec-fixtures").symlink_to(ROOT / "spec-fixtures")
        for match in BLOCK.finditer(markdown):
            if match["skip"]:
                continue
            if match["kind"] == "console":
                errors += console_errors(match["text"], folder)
            elif match["kind"] == "python":
                needed = NEEDS.match(match["text"])
                if not needed or importlib.util.find_spec(needed[1]):
                    python.append(match["text"])
                    if needed and needed[1] == "pyspark":
                        variables.update(spark_environment.environment(folder))
        if python:
            script = folder / "blocks.py"
            script.write_text(python_script(python), "utf-8")
            command = [
                sys.executable,
                "-W",
                "error",
                "-W",
                "ignore::DeprecationWarning:rdflib.graph",
                script,
            ]
            done = subprocess.run(
                command, cwd=folder, env=variables, capture_output=True, text=True, timeout=300
            )
            if done.returncode:
                errors.append((done.stdout + done.stderr).strip())
    return [f"{path.relative_to(ROOT)}:\n{error}" for error in errors]


def main() -> int:
    chosen = [Path(name).resolve() for name in sys.argv[1:]]
    files = chosen or sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
    errors = []
    for path in files:
        markdown = path.read_text("utf-8")
        errors += link_errors(path, markdown) + block_errors(path, markdown)
    print("\n\n".join(errors) or f"{len(files)} files are right")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
