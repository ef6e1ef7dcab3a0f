"""JSON-LD and YAML-LD in bounded memory: each input is read, or rejected with a reason.

Each input is decoded in a separate process, whose peak resident memory is measured.
"""

import json
import re
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from types import SimpleNamespace

import pytest
import samples
from support import ROOT

from rdfm import formats

MIB = 1 << 20
# Memory limits of a decoder, in addition to the memory of Python and its modules.
MEMORY_FACTOR, MEMORY_BASE = 8, 100_000_000
LOG_MEMORY_FACTOR, LOG_MEMORY_BASE = 12, 60_000_000
MAX_CPU_SECONDS = 30
# Longest allowed error text.
MAX_ERROR_CHARACTERS = 2000
LIMIT_NAMES = "max_message_bytes|max_depth|terms"

# The runner forks for each request, so that Python and rdfm are imported once and each child starts
# with little memory.
RUNNER = """
import json, os, resource, signal, sys
from rdfm import DecodeError, LimitError, formats

def outcome(request):
    quads = messages = 0
    try:
        decoder = formats.find(request["format"]).Decoder(**request["options"])
        with open(request["path"], "rb") as file:
            end = False
            while True:
                while (batch := decoder.next_batch()) is not None:
                    messages, quads = messages + len(batch), quads + batch.quad_count
                if end:
                    return {"kind": "read", "messages": messages, "quads": quads}
                if piece := file.read(1 << 16):
                    decoder.feed(piece)
                else:
                    decoder.finish()
                    end = True
    except LimitError as error:
        return {"kind": "limit", "text": str(error), "message": error.message_index}
    except DecodeError as error:
        return {"kind": "error", "text": str(error), "message": error.message_index}
    except BaseException as error:
        return {"kind": type(error).__name__, "text": str(error)}

for line in sys.stdin:
    request = json.loads(line)
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        resource.setrlimit(resource.RLIMIT_AS, (request["address_space"],) * 2)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        # CPU time, so that tests pass on a busy machine; the alarm ends a child that waits forever.
        resource.setrlimit(resource.RLIMIT_CPU, (request["seconds"],) * 2)
        signal.alarm(10 * request["seconds"])
        os.write(writer, json.dumps(outcome(request)).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        found = pipe.read()
    _, status, usage = os.wait4(child, 0)
    found = json.loads(found) if found else {"kind": "ended"}
    found["signal"] = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    found["resident"] = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    print(json.dumps(found), flush=True)
"""


def load_hostile():
    """Returns the module of hostile inputs, which is shared with the benchmarks."""
    spec = spec_from_file_location("hostile", ROOT / "benchmarks" / "hostile.py")
    module = module_from_spec(spec)
    sys.modules["hostile"] = module  # required by dataclasses
    spec.loader.exec_module(module)
    return module


hostile = load_hostile()
CASES = {case.name: case for case in hostile.CASES}


@pytest.fixture(scope="module")
def measure(tmp_path_factory):
    """A function that decodes bytes in a separate process and returns the outcome and memory."""
    folder = tmp_path_factory.mktemp("inputs")
    runner = subprocess.Popen(
        [sys.executable, "-c", RUNNER], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    path = folder / "input"

    def run(name, data, remote=(), address_space=2 << 30, **options):
        path.write_bytes(data)
        files = {}
        for number, (url, content) in enumerate(remote):
            files[url] = str(folder / f"context-{number}")
            (folder / f"context-{number}").write_bytes(content)
        if files:
            options["context"] = files
        request = {
            "format": name,
            "path": str(path),
            "options": options,
            "seconds": MAX_CPU_SECONDS,
            "address_space": address_space,
        }
        runner.stdin.write(json.dumps(request).encode() + b"\n")
        runner.stdin.flush()
        return SimpleNamespace(**json.loads(runner.stdout.readline()))

    yield run
    runner.stdin.close()
    runner.wait()
    runner.stdout.close()


def check(measure, case, name, size, limit):
    """Checks the memory limit. Returns whether the input was read."""
    data = case.text(size, name)
    remote = hostile.remote_contexts(case, size)
    found = measure(name, data, remote, max_message_bytes=limit, **case.options)
    description = f"{name}, {len(data)} bytes, max_message_bytes {limit}: {vars(found)}"
    assert found.kind in ("read", "limit", "error"), description
    assert not found.signal, description
    assert found.resident <= MEMORY_FACTOR * limit + MEMORY_BASE, description
    if found.kind != "read":
        assert found.message is not None, description
        assert 0 < len(found.text) <= MAX_ERROR_CHARACTERS, description
        assert "please report" not in found.text, description
    if found.kind == "limit":
        assert any(part in found.text for part in LIMIT_NAMES.split("|")), description
    return found.kind == "read"


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_memory_is_bounded_by_the_largest_message(measure, case):
    for name, size in zip(case.formats, (3 * MIB, MIB // 4, MIB), strict=False):
        check(measure, case, name, size, size)


@pytest.mark.parametrize(
    "case", [case for case in CASES.values() if case.plain], ids=lambda case: case.name
)
def test_input_without_repetition_is_read_far_below_the_limit(measure, case):
    for name in case.formats:
        assert check(measure, case, name, MIB // 16, MIB)


# --- benchmark logs as one message ---

LOG_BYTES = 32_000_000
# Number of messages that amount to LOG_BYTES, by log and format.
MESSAGE_COUNTS = {
    ("iot", "jsonld"): 63_000,
    ("iot", "ndjsonld"): 97_500,
    ("iot", "yamlld"): 84_000,
    ("nanopubs", "jsonld"): 8_100,
    ("nanopubs", "ndjsonld"): 12_400,
    ("nanopubs", "yamlld"): 10_600,
}


def merged_message(log, name, count):
    """Returns messages of a log merged into one, with distinct blank nodes."""
    texts = enumerate(samples.generated(log, count))
    text = "".join(re.sub(r"_:\w+", rf"\g<0>{at}", text) for at, text in texts).encode()
    batch = formats.find("nq").decode(text, max_message_bytes=1 << 30)
    return formats.find(name).encode(batch, prefixes=PREFIXES[log])


PREFIXES = {
    "iot": {
        "sosa": "http://www.w3.org/ns/sosa/",
        "om": "http://www.ontology-of-units-of-measure.org/resource/om-2/",
        "xsd": "http://www.w3.org/2001/XMLSchema#",
        "iot": "https://iot.example/",
    },
    "nanopubs": samples.generator().NANOPUB_NAMESPACES,
}


@pytest.mark.slow
@pytest.mark.parametrize(("log", "name"), MESSAGE_COUNTS)
def test_benchmark_logs_as_one_message_are_read_with_the_default_limits(measure, log, name):
    data = merged_message(log, name, MESSAGE_COUNTS[log, name])
    assert 0.9 * LOG_BYTES < len(data) <= LOG_BYTES
    found = measure(name, data)
    assert found.kind == "read", vars(found)
    assert found.messages == 1
    assert found.quads > 100_000
    assert found.resident <= LOG_MEMORY_FACTOR * len(data) + LOG_MEMORY_BASE, vars(found)
