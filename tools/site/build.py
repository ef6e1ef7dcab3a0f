"""Builds the site: one folder of static pages, which needs no server and no network.

- In: docs/, the other Markdown files at the root, the help of each command, and docstrings.
- Out: build/site. Files outside docs/ that pages link to are copied.
- The lists of docs/index.md are the navigation, so a page that they lack is an error.
"""

import ast
import inspect
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import rdfm
from rdfm.cli.parameters import COMPLETE

sys.path.append(str(Path(__file__).resolve().parents[1]))

from charts import landing, with_charts
from manual import contexts

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
DOCS = ROOT / "docs"
PAGES = ROOT / "build/pages"
LINK = re.compile(r"(!?\[[^\]]*\]\()([^)\s#]+)((?:#[^)\s]*)?\))")
FENCE = re.compile(r"(^```.*?^```$)", re.M | re.S)
COMMANDS, PYTHON = "reference-commands.md", "reference-python.md"


def staged(path: Path) -> Path:
    """The place of a file of the repository among the pages."""
    return PAGES / path.relative_to(DOCS if path.is_relative_to(DOCS) else ROOT)


def stage(path: Path, done: set[Path]) -> None:
    """Copies a page, and the files outside docs/ that it links to."""
    if path in done:
        return
    done.add(path)
    target = staged(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix != ".md":
        shutil.copyfile(path, target)
        return

    def link(match: re.Match[str]) -> str:
        linked = (path.parent / match[2]).resolve()
        if re.match(r"[a-z]+:", match[2]) or not linked.is_file():
            return match[0]
        stage(linked, done)
        return match[1] + os.path.relpath(staged(linked), target.parent) + match[3]

    parts = FENCE.split(path.read_text("utf-8"))
    parts[::2] = [LINK.sub(link, part) for part in parts[::2]]
    target.write_text("".join(parts), "utf-8")


def navigation(index: str) -> list[dict[str, object]]:
    """The navigation: a section for each heading of the index whose list consists of links."""
    sections: list[dict[str, object]] = [{"Home": "index.md"}]
    for title, text in re.findall(r"^## (.+)\n((?:(?!## ).*\n)*)", index, re.M):
        if links := re.findall(r"^(?:- )?\[([^\]]+)\]\(([^)#]+\.md)\)", text, re.M):
            sections.append({title: [{name: page} for name, page in links]})
    return sections


def commands() -> list[str]:
    """The complete help of every command."""
    lines = []
    for context in contexts():
        context.max_content_width = 100
        context.meta[COMPLETE] = True
        help = context.command.get_help(context)
        lines += [f"## {context.command_path}", "", "```text", help, "```", ""]
    return lines


def stubs() -> dict[str, str]:
    """The signatures in the stubs of the core, by name; those of methods by `Class.name`."""
    docstrings = {}
    for node in ast.parse((ROOT / "rdfm/_core.pyi").read_text("utf-8")).body:
        methods = node.body if isinstance(node, ast.ClassDef) else []
        for function in (node, *methods):
            if isinstance(function, ast.FunctionDef):
                owner = f"{node.name}." if function is not node else ""
                returns = f" -> {ast.unparse(function.returns)}" if function.returns else ""
                text = f"({ast.unparse(function.args)}){returns}"
                docstrings.setdefault(owner + function.name, text)
    return docstrings


def signature(name: str, value: object, known: dict[str, str]) -> str:
    if name in known:
        return known[name]
    try:
        return str(inspect.signature(value))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return ""


def described(name: str, value: object, known: dict[str, str]) -> list[str]:
    """A name with its signature and docstring; the members of a class follow it."""
    text = inspect.getdoc(value) or ""
    kind = "class " if inspect.isclass(value) else ""
    sign = signature(name, value, known) if callable(value) else ""
    lines = [f"## {name}", "", "```text", f"{kind}{name}{sign}", *(["", text] if text else [])]
    if inspect.isclass(value):
        for member, inner in vars(value).items():
            if not member.startswith("_") and inspect.getdoc(inner):
                path = f"{name}.{member}"
                shown = signature(path, inner, known) if inspect.isroutine(inner) else ""
                lines += ["", "", f"{path}{shown}", "", *indented(inspect.getdoc(inner))]
    return [*lines, "```", ""]


def indented(text: str | None) -> list[str]:
    return [f"    {line}".rstrip() for line in (text or "").splitlines()]


def main() -> int:
    shutil.rmtree(PAGES, ignore_errors=True)
    done: set[Path] = set()
    for page in [*DOCS.rglob("*.md"), *ROOT.glob("*.md")]:
        if page != ROOT / "README.md":
            stage(page, done)
    assets = PAGES / "assets"
    assets.mkdir()
    for name in ("iframe-worker.js", "accessible.css", "accessible.js"):
        shutil.copy(HERE / name, assets)
    performance = PAGES / "performance.md"
    index = PAGES / "index.md"
    text = performance.read_text("utf-8")
    lists = index.read_text("utf-8").partition("\n## ")
    index.write_text(landing(HERE / "landing.md", text) + "".join(lists[1:]), "utf-8")
    performance.write_text(with_charts(text), "utf-8")
    os.environ["COLUMNS"] = "100"
    head = "# Commands\n\nThe help of every command, with all options.\n\n"
    (PAGES / COMMANDS).write_text(head + "\n".join(commands()), "utf-8")
    known = stubs()
    names = ((name, getattr(rdfm, name)) for name in rdfm.__all__)
    lines = [
        line
        for name, value in names
        if not isinstance(value, str | ModuleType)
        for line in described(name, value, known)
    ]
    head = (
        "# Python names\n\nThe public names of `rdfm`. [Python](python.md) explains their use.\n\n"
    )
    (PAGES / PYTHON).write_text(head + "\n".join(lines), "utf-8")
    nav = navigation((DOCS / "index.md").read_text("utf-8"))
    nav.append({"Generated": [{"Commands": COMMANDS}, {"Python names": PYTHON}]})
    project = sorted(path.name for path in ROOT.glob("*.md") if path.name != "README.md")
    nav.append({"Project": [{name.removesuffix(".md").capitalize(): name} for name in project]})
    listed = set(re.findall(r'"([^"]+\.md)"', json.dumps(nav)))
    pages = {str(page.relative_to(PAGES)) for page in PAGES.rglob("*.md")}
    if missing := pages - listed:
        print(f"docs/index.md does not list {', '.join(sorted(missing))}", file=sys.stderr)
        return 1
    config = (HERE / "mkdocs.yml").read_text("utf-8")
    (ROOT / "build/mkdocs.yml").write_text(f"{config}nav: {json.dumps(nav)}\n", "utf-8")
    program = ROOT / "build/tools/bin/mkdocs"
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    command = [program, "build", "--quiet", "--config-file", ROOT / "build/mkdocs.yml"]
    return subprocess.run(command, env=environment).returncode


if __name__ == "__main__":
    sys.exit(main())
