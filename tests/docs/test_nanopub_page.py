"""The examples of docs/nanopub.md, run with two registries on loopback sockets."""

import importlib.util
from pathlib import Path

import pytest
import registry_double

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/nanopub.md"
NOT_RUN = "<!-- not run: needs a registry -->\n"


def block_errors(page, text):
    spec = importlib.util.spec_from_file_location("check_docs", ROOT / "tools/check_docs.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.block_errors(page, text)


@pytest.mark.slow
def test_examples_print_what_they_show():
    text = PAGE.read_text("utf-8")
    assert text.count(NOT_RUN) > 4
    text = text.replace(NOT_RUN, "")
    with registry_double.registry(500) as first, registry_double.registry(501) as second:
        text = text.replace("https://registry.knowledgepixels.com/", first.url)
        text = text.replace("https://registry.example.org/", second.url)
        # The widths of table columns depend on the URLs, so the spaces between columns are ignored.
        text = "\n".join(
            "…".join(line.split("  ")) if "viaSetting" in line or "Agents" in line else line
            for line in text.split("\n")
        )
        errors = block_errors(PAGE, text)
    assert not errors, "\n".join(errors)
