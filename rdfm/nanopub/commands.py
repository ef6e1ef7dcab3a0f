"""Functions without a module of their own: `list` and `status`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Unpack

from rdfm.logs.input.inputs import Readable
from rdfm.logs.read.reader import LogReader
from rdfm.nanopub.listing import NanopubList, NanopubLog
from rdfm.nanopub.registry import Registry, RegistryState

if TYPE_CHECKING:
    from rdfm.formats.options_generated import ReadOptions

__all__ = ["list", "status"]


def list(
    logs: Readable | LogReader | Sequence[Readable],
    *,
    latest: bool = False,
    on_error: Literal["fail", "skip"] = "fail",
    message_per_file: bool = False,
    format: str | None = None,
    compression: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    **options: Unpack[ReadOptions],
) -> NanopubList:
    r"""List nanopublications: one row for each, with creators, time, license, types and links.

    Values come from the publication info and describe the nanopublication; `NanopubRow` describes
    the columns. Messages that are not nanopublications are skipped, and counted by `others`.
    Nothing is verified: invalid signatures can lead to wrong rows, so `check` the log first.

    Args:
        logs: Inputs that `open_log` accepts, or a list of them; or an unread `LogReader`.
        latest: Omit nanopublications that another one in the logs supersedes or retracts with the
            same public key. All rows are kept in memory until the end.
        on_error: "fail", or "skip" to omit invalid data.
        message_per_file: Read each log as one message, even if it is empty.
        format: Format of the logs. Detected for each input by default.
        compression: As in `open_log`.
        storage_options: As in `open_log`.
        **options: Options of the formats' decoders. Each log uses those that its format supports.

    Returns:
        The rows, which are read on demand: a table for pyarrow, pandas, Polars and DuckDB.

    Raises:
        OptionError: If an option does not apply; during reading, if a log contains patches or
            results.
        RdfmError, OSError: As in `open_log`, including while the rows are read.

    Example:
        >>> log = b'''
        ... <x:n> a <http://www.nanopub.org/nschema#Nanopublication> <x:n/head> .
        ... <x:n> <http://www.nanopub.org/nschema#hasPublicationInfo> <x:n/info> <x:n/head> .
        ... <x:n> <http://purl.org/dc/terms/creator> <https://orcid.org/0> <x:n/info> .
        ... '''.replace(b" a ", b" <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> ")
        >>> with list(log, format="nq") as found:
        ...     [(row.nanopub, row.creators) for row in found.rows()]
        [('x:n', ['https://orcid.org/0'])]
    """
    given: dict[str, Any] = {
        "latest": latest,
        "on_error": on_error,
        "message_per_file": message_per_file,
    }
    given |= {"from_format": format, **options}
    storage = {"compression": compression, "storage_options": storage_options}
    return NanopubLog(logs, given, storage).rows()


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

    settings = HttpSettings.from_options({"headers": headers or {}})
    return Registry(registry, settings, allow_http=allow_http).state()
