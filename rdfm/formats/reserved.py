"""Names that options of formats must not have, because stages and commands use them."""

from __future__ import annotations

from rdfm.errors import OptionError
from rdfm.formats.spec import FormatSpec

__all__ = ["RESERVED", "refuse_reserved"]

RESERVED = frozenset(
    {
        "after",
        "any",
        "append",
        "before",
        "canonical",
        "chain",
        "changed_files",
        "clean_source",
        "column_name_of_corrupt_record",
        "columns",
        "compression",
        "contains",
        "count",
        "debug",
        "default_graph_as",
        "discard_cached_input_ratio",
        "file_name_only",
        "filter",
        "first_index",
        "format",
        "from",
        "graph",
        "group_by",
        "help",
        "ignore_corrupt_files",
        "ignore_metadata",
        "ignore_missing_files",
        "ignore_namespaces",
        "invert",
        "json",
        "keep_partial",
        "latest",
        "latest_first",
        "limit",
        "max_bytes_per_trigger",
        "max_cached_files",
        "max_file_age",
        "max_files_per_trigger",
        "max_open",
        "max_records_per_file",
        "max_rows",
        "max_steps",
        "max_total_steps",
        "message_per_file",
        "messages",
        "min_partitions",
        "mode",
        "modified_after",
        "modified_before",
        "object",
        "on_error",
        "open_cost_bytes",
        "output",
        "overwrite",
        "pack_bytes",
        "parts",
        "patch_format",
        "path",
        "path_glob_filter",
        "paths",
        "per_message",
        "predicate",
        "progress",
        "quads",
        "query",
        "quiet",
        "recursive_file_lookup",
        "regex",
        "repair",
        "require",
        "rows",
        "sample",
        "schema",
        "seed",
        "separate_blank_nodes",
        "signatures",
        "skip",
        "skip_empty",
        "skolemize",
        "snapshots",
        "solutions",
        "source",
        "source_archive_dir",
        "split",
        "split_by",
        "split_bytes",
        "split_messages",
        "state_location",
        "storage_options",
        "subject",
        "sync",
        "take",
        "terms",
        "time",
        "timeout",
        "to",
        "top",
        "types",
        "union_graphs",
        "unordered",
        "version",
        "where",
        "whole",
        "window",
        "write_id",
    }
)


def refuse_reserved(spec: FormatSpec) -> None:
    """Check that no option of a format has a reserved name.

    Raises:
        OptionError: If one has.
    """
    for side in ("read", "write"):
        for name in spec.options(side):
            if name in RESERVED or name.startswith(("from_", "to_")):
                raise OptionError(
                    f"the format {spec.name} has an option named {name}, which is reserved; choose another name"
                )
