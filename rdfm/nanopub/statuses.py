"""The state of a nanopublication registry."""

from __future__ import annotations

from collections.abc import Mapping

from rdfm.nanopub.registry import Registry, RegistryState

__all__ = ["status"]


def status(
    registry: str,
    *,
    allow_http: bool = False,
    headers: Mapping[str, str] | None = None,
) -> RegistryState:
    """Return the state of a registry, from one request.

    Counters of different registries, and of different setup ids, cannot be compared.

    Args:
        registry: The URL of the registry.
        allow_http: Allow http for hosts other than loopback addresses.
        headers: Headers of the request, such as credentials.

    Raises:
        OptionError: If the URL is not the URL of a registry, or is not allowed.
        OSError: If the request fails, or the response is not from a registry.
    """
    from rdfm.storage.http import HttpSettings  # costly to import

    settings = HttpSettings.of({"headers": headers or {}})
    return Registry(registry, settings, allow_http=allow_http).state()
