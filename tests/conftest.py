"""Profiles of the random tests: the same examples on every run, more of them in `make soak`."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "default",
    max_examples=40,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "soak", settings.get_profile("default"), max_examples=3000, derandomize=False
)
settings.load_profile("default")
