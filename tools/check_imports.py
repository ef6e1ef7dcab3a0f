"""Checks that imports refer only to lower layers, in the Rust crates and the Python package.

In: the sources of the crates, and `rdfm`. The check covers every `crate::` and `super::` path, in
`use` trees and inline, Python's imports at any depth, and `import_module`. Items under
`#[cfg(test)]` are ignored.
Out: one line per violation: an import from a higher layer, an import between two families of
formats, a file without a layer, a cycle through several folders or between the files of the
binding, a crate other than the binding that uses Python or the system, a call of `import_module`
with an unknown target, or an unused exception in `ALLOWED`. The exit status is 1 if there is a
violation.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TypeGuard

ROOT = Path(__file__).resolve().parent.parent
# A file or folder may import files in lower layers and in its own folder.
CORE = [
    {"model"},
    {"codec"},
    {"syntax"},
    {"formats"},
    {"regroup", "changes", "archive"},
    {"registry"},
    {"lib"},
]
ARROW = [
    {"error"},
    {"schema", "widths"},
    {"to_arrow", "from_arrow", "parquet"},
    {"values", "columns"},
    {"lib"},
]
ANALYSIS = [
    {"statistics", "streams", "comparison", "warnings", "nanopub"},
    {"canonical"},
    {"lib"},
]
QUERY = [
    {"filter", "labelled", "query"},
    {"keys"},
    {"lib"},
]
TEST = "#[cfg(test)]"
# Paths that only the binding may use.
OUTSIDE = re.compile(r"\b(?:pyo3|std::(?:fs|net|process|env))\b")
PACKAGE = [
    {"errors", "_core"},
    {"literals", "message"},
    {"storage", "compare"},
    {"interop", "formats"},
    {"logs"},
    {"conversion"},
    {"analysis", "patch", "sparql"},
    {"live", "nanopub", "riverbench"},
    {"cli", "spark", "rdflib_plugin"},
    {"__init__", "__main__"},
]
# The layers of `rdfm/logs`.
LOGS = [
    {
        "channel",
        "counters",
        "journal",
        "kinds",
        "notebook",
        "notes",
        "options",
        "positions",
        "remedies",
        "reader_lock",
    },
    {"file_advice"},
    {"input"},
    {"stages"},
    {"read", "write"},
    {"__init__"},
]
# The layers of `rdfm/spark`.
SPARK = [
    {"schema", "spark_options", "versions"},
    {"compat", "spark_remedies", "terms"},
    {"paths", "workers"},
    {"hadoop"},
    {"queries", "writers"},
    {"readers"},
    {"streams"},
    {"checks", "functions"},
    {"counting", "resplitting"},
    {"__init__"},
]
# Modules that may import the package itself (`import rdfm`, `from rdfm import convert`): clients.
SURFACES = PACKAGE[-2] | PACKAGE[-1]
# For convenience, messages have conversion methods, which import `interop` when they are called.
ALLOWED = {
    "message.py -> interop.py",
}

Edges = dict[Path, set[Path]]


def rust_edges(source: Path) -> Edges:
    """The references between the files of a crate."""
    names = {}
    for path in source.rglob("*.rs"):
        parts = path.relative_to(source).with_suffix("").parts
        names[parts[:-1] if parts[-1] in ("mod", "lib") else parts] = path
    edges: Edges = {}
    for name, path in names.items():
        text = without_tests(path.read_text())
        found = edges.setdefault(path, set())
        for parts in rust_paths(text, name):
            while parts and parts not in names:
                parts = parts[:-1]
            if parts and names[parts] != path:
                found.add(names[parts])
    return edges


def without_tests(text: str) -> str:
    """A Rust file without its comments and without each item under `#[cfg(test)]`."""
    text = re.sub(r"//[^\n]*", "", text)
    while (start := text.find(TEST)) >= 0:
        text = text[:start] + text[end_of_item(text, start + len(TEST)) :]
    return text


def end_of_item(text: str, start: int) -> int:
    """The end of the item at `start`: its semicolon, or the end of its first pair of braces."""
    depth = 0
    for at in range(start, len(text)):
        depth += (text[at] == "{") - (text[at] == "}")
        if depth == 0 and text[at] in ";}":
            return at + 1
    return len(text)


def rust_paths(text: str, module: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The paths within the crate that occur in a file, from the crate's root."""
    uses = re.findall(r"\buse\s+([^;]+);", text)
    paths = [path for tree in uses for path in leaves("", re.sub(r"\s+", " ", tree))]
    paths += re.findall(r"\b(?:crate|super)(?:::\w+)+", re.sub(r"\buse\s+[^;]+;", "", text))
    for path in paths:
        first, *rest = path.split(" as ")[0].replace(" ", "").split("::")
        base = module
        if first == "super":
            while first == "super":
                base = base[:-1]
                first, *rest = rest or [""]
            yield (*base, first, *rest)
        elif first == "crate":
            yield tuple(rest)


def outside_uses(source: Path) -> Iterator[str]:
    """The uses of Python or of the system in the files of a crate."""
    for path in sorted(source.rglob("*.rs")):
        text = without_tests(path.read_text())
        for used in sorted(set(OUTSIDE.findall(text))):
            yield f"{path.relative_to(source)} uses {used}"


def leaves(head: str, tree: str) -> Iterator[str]:
    """The paths of a `use` tree, such as `crate::{a::{b, c}, d}`."""
    start, brace, inner = tree.partition("{")
    if not brace:
        yield head + tree.strip()
        return
    depth, part = 0, ""
    for char in inner.rpartition("}")[0] + ",":
        depth += (char == "{") - (char == "}")
        if char == "," and depth == 0:
            if part.strip():
                yield from leaves(head + start.strip(), part)
            part = ""
        else:
            part += char


def python_edges(package: Path) -> Edges:
    """The imports between the files of a package."""
    names = {}
    for path in package.rglob("*.py"):
        parts = path.relative_to(package.parent).with_suffix("").parts
        names[parts[:-1] if parts[-1] == "__init__" else parts] = path
    edges: Edges = {}
    for path in names.values():
        found = edges.setdefault(path, set())
        for parts in python_imports(ast.parse(path.read_text())):
            if parts[:2] == (package.name, "_core"):
                continue
            while parts and parts not in names:
                parts = parts[:-1]
            if not parts or names[parts] == path:
                continue
            if len(parts) > 1 or path.relative_to(package).with_suffix("").parts[0] not in SURFACES:
                found.add(names[parts])
    return edges


def opaque_imports(package: Path) -> Iterator[str]:
    """The calls of `import_module` with an unknown target, except in the surfaces."""
    for path in sorted(package.rglob("*.py")):
        own_package = ".".join(path.relative_to(package.parent).parent.parts)
        if path.relative_to(package).with_suffix("").parts[0] in SURFACES:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if is_import_module(node) and not names_its_module(node.args, own_package):
                yield f"{path.relative_to(package)}: line {node.lineno} calls import_module with an unknown target"


def is_import_module(node: ast.AST) -> TypeGuard[ast.Call]:
    """Whether a node calls `import_module`."""
    return isinstance(node, ast.Call) and called_name(node) == "import_module"


def called_name(node: ast.Call) -> str:
    """The last part of the name of the called function."""
    name: str = getattr(node.func, "attr", getattr(node.func, "id", ""))
    return name


def names_its_module(arguments: list[ast.expr], package: str) -> bool:
    """Whether a module name is a string, or an f-string that begins with the caller's package."""
    match arguments:
        case [ast.Constant(value=str())]:
            return True
        case [ast.JoinedStr(values=[ast.Constant(value=str(start)), *_])]:
            return start.startswith(f"{package}.")
    return False


def python_imports(tree: ast.Module) -> Iterator[tuple[str, ...]]:
    """The modules and names that a file imports. The linter rejects relative imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (tuple(alias.name.split(".")) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            base = tuple(node.module.split("."))
            yield from ((*base, alias.name) for alias in node.names)
        elif is_import_module(node) and node.args and isinstance(node.args[0], ast.Constant):
            yield tuple(str(node.args[0].value).split("."))


def violations(edges: Edges, base: Path, layers: list[set[str]]) -> Iterator[str]:
    """The violations in a package or crate."""
    layer_numbers = {name: number for number, names in enumerate(layers) for name in names}

    def module(path: Path) -> str:
        return path.relative_to(base).with_suffix("").parts[0]

    for path, others in edges.items():
        if module(path) not in layer_numbers:
            yield f"{path.relative_to(base)} is not in a layer"
            continue
        for other in others:
            edge = f"{path.relative_to(base)} -> {other.relative_to(base)}"
            source_module, target_module = module(path), module(other)
            source_parts, target_parts = (part.relative_to(base).parts for part in (path, other))
            is_core = path.suffix == ".rs"
            is_up = (
                source_module != target_module
                and layer_numbers.get(target_module, -1) >= layer_numbers[source_module]
            )
            is_sibling = (
                source_module == target_module == "formats" and is_core and len(source_parts) > 2
            )
            if is_up or (is_sibling and source_parts[1] != target_parts[1]):
                yield edge
    for cycle in cycles(edges):
        if len({path.parent for path in cycle}) > 1:
            yield described_cycle(cycle, base)


def within(edges: Edges, base: Path) -> Edges:
    """The edges between files of a folder."""
    return {
        path: {other for other in others if other.is_relative_to(base)}
        for path, others in edges.items()
        if path.is_relative_to(base)
    }


def described_cycle(cycle: set[Path], base: Path) -> str:
    return "cycle: " + ", ".join(sorted(str(path.relative_to(base)) for path in cycle))


def cycles(edges: Edges) -> Iterator[set[Path]]:
    """Groups of files that import each other, directly or indirectly."""
    reached: dict[Path, set[Path]] = {}
    for path in edges:
        seen: set[Path] = set()
        pending = [path]
        while pending:
            for other in edges.get(pending.pop(), ()):
                if other not in seen:
                    seen.add(other)
                    pending.append(other)
        reached[path] = seen
    reported: set[Path] = set()
    for path in edges:
        cycle = {other for other in reached[path] if path in reached[other]}
        if len(cycle) > 1 and path not in reported:
            reported |= cycle
            yield cycle


def without_allowed(edges: Edges, base: Path) -> Edges:
    """The edges except those in `ALLOWED`. The allowed edges may form cycles."""
    return {
        path: {
            other
            for other in others
            if f"{path.relative_to(base)} -> {other.relative_to(base)}" not in ALLOWED
        }
        for path, others in edges.items()
    }


def main() -> None:
    crates, package = ROOT / "crates", ROOT / "rdfm"
    core, arrow, analysis, query = (
        crates / f"rdfm-{name}/src" for name in ("core", "arrow", "analysis", "query")
    )
    binding = crates / "rdfm-py/src"
    found = [
        described_cycle(cycle, binding)
        for cycle in cycles(rust_edges(binding))
        if len({path.relative_to(binding).with_suffix("").parts[0] for path in cycle}) > 1
    ]
    for source in (core, arrow, analysis, query):
        found += outside_uses(source)
    unused = set(ALLOWED)
    package_edges = python_edges(package)
    for edges, base, layers in (
        (rust_edges(core), core, CORE),
        (rust_edges(arrow), arrow, ARROW),
        (rust_edges(analysis), analysis, ANALYSIS),
        (rust_edges(query), query, QUERY),
        (package_edges, package, PACKAGE),
        (within(package_edges, package / "logs"), package / "logs", LOGS),
        (within(package_edges, package / "spark"), package / "spark", SPARK),
    ):
        unused -= set(violations(edges, base, layers))
        found += violations(without_allowed(edges, base), base, layers)
    found += opaque_imports(package)
    found += [f"{edge} is in ALLOWED but does not exist" for edge in unused]
    print(*sorted(found), sep="\n", end="\n" if found else "")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
