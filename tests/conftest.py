"""Profiles of the random tests: the same examples on every run; more of them in `make soak`.

A failure is shown as found; `--hypothesis-profile=shrink` makes it small, which takes minutes.
"""

from hypothesis import HealthCheck, Phase, settings

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
settings.load_profile("default")
