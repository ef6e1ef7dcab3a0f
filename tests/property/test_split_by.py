"""`split_by` writes files that together equal the log, for any keys and number of open files."""

import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

import rdfm

KEYS = st.lists(st.lists(st.sampled_from("abcdE"), max_size=2), max_size=30)


@given(KEYS, st.integers(1, 4), st.sampled_from(["nq", "trig", "jelly", "ndjsonld"]))
def test_the_files_together_equal_the_log(keys, max_open, format):
    messages = [
        "".join(f'<x:s{number}> <x:p> "{key}" .\n' for key in values)
        for number, values in enumerate(keys)
    ]
    if messages and not messages[-1]:
        messages.append("")  # the delimiter at the end does not begin a message
    log = "# @message\n".join(messages).encode()
    with rdfm.open_log(log, "nq") as source:
        expected: dict[str, list[str]] = {}
        for message in source:
            name = message.quads[0].object.value if message.quads else "other"
            expected.setdefault(name, []).append(repr(message.quads))
    with tempfile.TemporaryDirectory() as folder:
        rdfm.convert(
            log,
            f"{folder}/out/",
            from_format="nq",
            to=format,
            split_by="value:<x:p>",
            max_open=max_open,
        )
        found = {}
        for path in Path(folder, "out").iterdir():
            with rdfm.open_log(path) as part:
                found[path.name.split(".")[0]] = [repr(message.quads) for message in part]
    assert found == expected
