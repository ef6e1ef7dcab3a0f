"""Exchange of logs with other services and archives."""

__all__ = ["nanopub"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rdfm.exchange import nanopub


def _load(name: str) -> object:
    """Import a module of the package on first use."""
    if name not in __all__:
        raise AttributeError(f"module 'rdfm.exchange' has no attribute {name!r}")
    from importlib import import_module

    return import_module(f"rdfm.exchange.{name}")


if not TYPE_CHECKING:  # otherwise type checkers accept every attribute
    __getattr__ = _load
