"""The type check of documentation examples finds errors and reports their positions."""

import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = """# Page

```python
import rdfm
```

Text.

<!-- not run: it has no log -->
```python
>>> for at in range(2):
...     print(at)
0
1
>>> rdfm.formats.{name}

```

```console
$ ls
```
"""


@pytest.fixture(scope="module")
def check():
    spec = importlib.util.spec_from_file_location("check_types", ROOT / "tools/check_types.py")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(ROOT / "tools"))
    return module


def test_lines_of_examples_keep_their_numbers(check):
    lines = check.module_of(PAGE.format(name="nq")).splitlines()
    numbered = {number: line for number, line in enumerate(lines, 1) if line}
    assert numbered == {
        4: "import rdfm",
        11: "for at in range(2):",
        12: "    print(at)",
        15: "rdfm.formats.nq",
    }
    assert check.module_of("# Page\n") == ""


@pytest.mark.slow
def test_both_checkers_reject_a_format_that_does_not_exist(check, tmp_path):
    for name in ("examples", "calls"):
        (tmp_path / name).mkdir()
    (tmp_path / "calls/api.py").write_text("")
    page = tmp_path / "examples/page.py"
    page.write_text(check.module_of(PAGE.format(name="nonsense")))
    mypy, pyright = check.check(tmp_path)
    assert 'examples/page.py:15: error: Module has no attribute "nonsense"' in mypy
    assert 'page.py:15:14 - error: "nonsense" is not a known attribute of module' in pyright
