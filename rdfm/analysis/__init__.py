"""Public types for log statistics: `Collector` and the field types of `Statistics`.

The functions, such as `statistics` and `diff`, are in `rdfm`.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rdfm.analysis.statistics import Collector, Distinct, Names, Series, Sizes, Variable

__all__ = ["Collector", "Distinct", "Names", "Series", "Sizes", "Variable"]


def __dir__() -> list[str]:
    return __all__


def _load(name: str) -> object:
    """Return a public name. Its module is imported on first use, to keep `import` fast."""
    if name not in __all__:
        raise AttributeError(f"module 'rdfm.analysis' has no attribute {name!r}")
    from rdfm.analysis import statistics

    value: object = getattr(statistics, name)
    globals()[name] = value
    return value


if not TYPE_CHECKING:  # with `__getattr__`, type checkers would accept any name
    __getattr__ = _load
