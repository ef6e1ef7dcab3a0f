"""Hypothesis profiles: the same examples in each run, and more of them in `make soak`.

A failing example is not minimized by default; `--hypothesis-profile=shrink` minimizes
it, which takes minutes. Only tests with the marker `suites` read the suites: see `suites.path`.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import suites
from hypothesis import HealthCheck, Phase, settings

# Set before grpc is imported, as rdfm does, because tests compare standard error.
os.environ.setdefault("GRPC_VERBOSITY", "NONE")
# grpc's fork handlers may abort the processes that tests start.
os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "0"

settings.register_profile(
    "default",
    max_examples=25,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
settings.register_profile("shrink", settings.get_profile("default"), phases=list(Phase))
settings.register_profile(
    "soak", settings.get_profile("default"), max_examples=2000, derandomize=False
)
settings.register_profile("fast", settings.get_profile("default"), max_examples=2)
settings.load_profile("default")

SPEC = Path(__file__).parent / "spec"


def pytest_report_header() -> str:
    return f"suites: {suites.FOLDER or suites.ABSENT}"


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Iterator[None]:
    if isinstance(collector, pytest.Module) and SPEC in collector.path.parents:
        collector.add_marker("suites")
    with suites.used_by(collector):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    with suites.used_by(item):
        return (yield)
