"""Reports on logs. The functions are in `rdfm`; here are `Collector` and the types of the parts of `Statistics`."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rdfm.analysis.statistics import Collector, Distinct, Names, Series, Sizes, Variable

__all__ = ["Collector", "Distinct", "Names", "Series", "Sizes", "Variable"]


def __dir__() -> list[str]:
    return __all__


def _load(name: str) -> object:
    """Returns a public name; its module is loaded on first use, so that importing the package is quick."""
    if name not in __all__:
        raise AttributeError(f"module 'rdfm.analysis' has no attribute {name!r}")
    from rdfm.analysis import statistics

    value: object = getattr(statistics, name)
    globals()[name] = value
    return value


if not TYPE_CHECKING:  # type checkers would accept every name
    __getattr__ = _load
