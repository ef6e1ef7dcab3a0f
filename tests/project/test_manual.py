"""Man pages and completion scripts say the same as the help of the commands."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "tools"))

import manual

CONTEXTS = {context.command_path: context for context in manual.contexts()}


def words(text):
    return re.sub(r"[\s\\]|‐\n", "", text)


@pytest.mark.parametrize("path", CONTEXTS)
def test_the_page_of_a_command_has_all_of_its_help(path):
    context = CONTEXTS[path]
    context.terminal_width = 1000
    page = manual.page(context).replace("\\-", "-").replace("\\e", "\\").replace("\\&", "")
    lines = context.command.get_help(context).splitlines()
    for line in lines:
        for part in re.split(r"\s{2,}", line.strip()):
            text = part.rstrip(":").removeprefix("Usage: ").removeprefix("Exit status: ")
            text = re.sub(rf"^{path} (?=\[|[A-Z])", "", text)
            assert words(text).lower() in words(page).lower(), text
    assert manual.page(context).count("\n.SH NAME\n") == 1


def test_pages_have_only_the_options_of_their_command():
    assert "\\-\\-split\\-by" in manual.page(CONTEXTS["rdfm convert"])
    assert "\\-\\-split\\-by" not in manual.page(CONTEXTS["rdfm validate"])
    assert CONTEXTS.keys() >= {"rdfm", "rdfm patch apply", "rdfm nanopub fetch"}


@pytest.mark.parametrize("shell", manual.SHELLS)
def test_completion_scripts_are_those_of_the_command(shell):
    command = [Path(sys.executable).parent / "rdfm", "completion", shell]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert manual.files()[manual.COMPLETIONS[shell]] == printed


@pytest.mark.skipif(not shutil.which("groff"), reason="groff is not installed")
def test_groff_finds_no_errors_in_the_pages():
    for name, text in manual.files().items():
        if name.startswith("man/"):
            command = ["groff", "-man", "-Kutf8", "-Tutf8", "-ww", "-Wbreak", "-z"]
            done = subprocess.run(command, input=text, capture_output=True, text=True)
            assert (done.returncode, done.stderr) == (0, ""), name
