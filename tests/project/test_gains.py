"""Each fast path says what it gains, and names the command that measures it."""

import re
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

import gains

ROOT = Path(__file__).parents[2]
SWITCHES = (ROOT / "crates/rdfm-core/src/model/fast_path.rs").read_text()
PATHS = [*re.findall(r'\(Self::\w+, "([a-z-]+)"\)', SWITCHES), *gains.PATHS]


@pytest.fixture(scope="module")
def sources():
    files = [*ROOT.glob("crates/*/src/**/*.rs"), *ROOT.glob("rdfm/**/*.py")]
    lines = "\n".join(file.read_text() for file in files)
    return re.sub(r"\s*\n\s*(?://[/!]?)?\s*", " ", lines)  # without the breaks within comments


@pytest.mark.parametrize("name", PATHS)
def test_the_gain_of_a_fast_path_is_stated_with_its_command(name, sources):
    figure = r"Gain: \d+(\.\d+)? (to \d+(\.\d+)? )?times"
    command = re.escape(f"`make bench-gains PATHS={name}`")
    assert len(re.findall(rf"{figure}[^`]*\({command}\)", sources)) == 1


def test_all_fast_paths_are_found():
    assert len(PATHS) > 10
