"""Checks types as strict users of the package see them, with mypy and pyright.

In: `tests/typing`, the programs in `examples`, and the Python blocks of the Markdown files at the root and under `docs`. The
blocks of a page form one module, which keeps the line numbers of the page. In a block with prompts,
only the lines after `>>>` and `...` count. Blocks that are not run (`<!-- not run: REASON -->`) are
also checked.

Both checkers are strict, except for rules that do not concern types or that concern packages
without types; see `PYRIGHT` and `MYPY`. pyright is basedpyright, whose wheel is self-contained. The
exit status is 1 if a checker reports an error.
"""

import doctest
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from check_docs import BLOCK, ROOT

PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
PYRIGHT = {
    "typeCheckingMode": "strict",
    "pythonVersion": "3.11",
    "include": ["examples", "calls"],
    "stubPath": "stubs",
    # A comment must name pyright to suppress one of its errors.
    "enableTypeIgnoreComments": False,
    "reportUnnecessaryTypeIgnoreComment": "error",
    # Examples use expressions to show values.
    "reportUnusedExpression": "none",
    # Each block of a page has its own imports.
    "reportDuplicateImport": "none",
}
# Packages without types. All their names are `Any`, as in mypy.
UNTYPED = [
    "confluent_kafka/__init__",
    "deltalake/__init__",
    "grpc_health/v1/health_pb2",
    "grpc_health/v1/health_pb2_grpc",
    "pandas/__init__",
    "pyarrow/__init__",
    "pyarrow/parquet",
    "pyjelly/integrations/generic/parse",
    "pyjelly/integrations/rdflib/parse",
    "pyjelly/integrations/rdflib/serialize",
]
MYPY = [
    "--config-file",
    str(ROOT / "pyproject.toml"),
    # A page may reuse a name for a value of another type.
    "--allow-redefinition-new",
    "--local-partial-types",
]


def module_of(markdown: str) -> str:
    """The Python blocks of a page as one module, which keeps the line numbers of the page."""
    lines = [""] * (markdown.count("\n") + 1)
    for match in BLOCK.finditer(markdown):
        if match["kind"] != "python":
            continue
        first = markdown.count("\n", 0, match.start("text"))
        text = match["text"]
        if ">>>" in text:
            found: list[tuple[int, str]] = [
                (example.lineno, example.source)
                for example in doctest.DocTestParser().get_examples(text)
            ]
        else:
            found = [(0, text)]
        for at, source in found:
            for number, line in enumerate(source.splitlines(), first + at):
                lines[number] = line
    return "\n".join(lines) + "\n" if any(lines) else ""


def check(folder: Path) -> list[str]:
    """The errors of both checkers in a folder that has `examples` and `calls`."""
    for module in UNTYPED:
        stub = folder / f"stubs/{module}.pyi"
        stub.parent.mkdir(parents=True, exist_ok=True)
        stub.write_text("from typing import Any\ndef __getattr__(name: str) -> Any: ...\n", "utf-8")
    (folder / "pyrightconfig.json").write_text(json.dumps(PYRIGHT), "utf-8")
    commands = [
        [sys.executable, "-m", "mypy", *MYPY, "examples", "calls"],
        [
            sys.executable,
            "-m",
            "basedpyright",
            "--pythonpath",
            sys.executable,
            "--project",
            str(folder),
        ],
    ]
    errors = []
    for command in commands:
        done = subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, "MYPYPATH": str(ROOT)},
            capture_output=True,
            text=True,
            timeout=600,
        )
        if done.returncode:
            errors.append((done.stdout + done.stderr).strip())
    return errors


def main() -> int:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "calls").symlink_to(ROOT / "tests/typing")
        (folder / "examples").mkdir()
        for program in (ROOT / "examples").rglob("*.py"):
            (folder / "examples" / f"program_{program.name}").symlink_to(program)
        for page in PAGES:
            text = module_of(page.read_text("utf-8"))
            if text:
                module_name = str(page.relative_to(ROOT).with_suffix("")).replace("/", "_")
                (folder / "examples" / f"{module_name.replace('-', '_')}.py").write_text(
                    text, "utf-8"
                )
        errors = check(folder)
    print("\n\n".join(errors) or f"{len(PAGES)} pages are correct")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
