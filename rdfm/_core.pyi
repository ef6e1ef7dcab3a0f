"""The native core: terms, batches and codecs. Import these from `rdfm` and `rdfm.formats`."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, TypeAlias, final
from typing import Literal as OneOf

from typing_extensions import Buffer

from rdfm.errors import DecodeError, EncodeError, LimitError
from rdfm.literals import PythonValue
from rdfm.message import AnyBatch, Message, OperationTuple, Patch

__all__ = [
    "MAX_CANONICAL_STEPS",
    "ArrowArray",
    "ArrowBatch",
    "ArrowCoalescer",
    "BlankNode",
    "Checker",
    "Comparer",
    "Dataset",
    "DatasetDifference",
    "Decoder",
    "DelimiterCounter",
    "Encoder",
    "Filter",
    "Iri",
    "KeySplitter",
    "LengthChain",
    "Literal",
    "MessageBatch",
    "ParquetColumn",
    "ParquetJoiner",
    "PatchBatch",
    "PatchChain",
    "Quad",
    "Regrouper",
    "ResultBatch",
    "SeenMessages",
    "Slices",
    "StatisticsCounter",
    "StreamRules",
    "TarMembers",
    "Term",
    "ToMessages",
    "ToPatches",
    "TripleTerm",
    "__version__",
    "artifact_code",
    "artifact_code_of_iri",
    "batches_from_arrow",
    "build_triple_term",
    "canonical_hashes",
    "canonical_labels",
    "canonical_text",
    "canonicalize",
    "check_nanopubs",
    "checked_datatypes",
    "coalesce",
    "common_blocks",
    "count_lines",
    "cut_frames",
    "debug_build",
    "decode_values",
    "delimited",
    "describe_nanopubs",
    "encode_values",
    "first_options",
    "format_names",
    "format_spec",
    "has_rows",
    "is_lexical_form",
    "is_marked",
    "isomorphism",
    "option_value",
    "parquet_columns",
    "parse_term",
    "read_subscription",
    "sniff",
    "verify_nanopubs",
    "write_options",
]

_Object: TypeAlias = object  # for classes with a property `object`

__version__: str
MAX_CANONICAL_STEPS: int
debug_build: bool  # built without optimization, therefore slow

# --- terms: immutable, hashable, ordered; str() returns canonical N-Triples ---

@final
class Iri:
    __match_args__: ClassVar[tuple[str]]
    def __new__(cls, value: str) -> Iri: ...
    @property
    def value(self) -> str: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __lt__(self, other: Term, /) -> bool: ...
    def __le__(self, other: Term, /) -> bool: ...
    def __gt__(self, other: Term, /) -> bool: ...
    def __ge__(self, other: Term, /) -> bool: ...
    def __getnewargs__(self) -> tuple[str]: ...

@final
class BlankNode:
    __match_args__: ClassVar[tuple[str]]
    def __new__(cls, label: str) -> BlankNode: ...
    @property
    def value(self) -> str: ...  # the label, without "_:"
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __lt__(self, other: Term, /) -> bool: ...
    def __le__(self, other: Term, /) -> bool: ...
    def __gt__(self, other: Term, /) -> bool: ...
    def __ge__(self, other: Term, /) -> bool: ...
    def __getnewargs__(self) -> tuple[str]: ...

@final
class Literal:
    __match_args__: ClassVar[tuple[str]]
    # datatype: an Iri or its string. language and datatype cannot be combined; direction requires
    # language
    def __new__(
        cls,
        value: str,
        *,
        language: str | None = None,
        direction: OneOf["ltr", "rtl"] | None = None,
        datatype: Iri | str | None = None,
    ) -> Literal: ...
    @property
    def value(self) -> str: ...
    @property
    def language(self) -> str | None: ...
    @property
    def direction(self) -> OneOf["ltr", "rtl"] | None: ...
    @property
    def datatype(self) -> Iri: ...  # xsd:string, rdf:langString, rdf:dirLangString or as given
    # the literal itself if no Python value represents it exactly
    def to_python(self) -> PythonValue: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __lt__(self, other: Term, /) -> bool: ...
    def __le__(self, other: Term, /) -> bool: ...
    def __gt__(self, other: Term, /) -> bool: ...
    def __ge__(self, other: Term, /) -> bool: ...
    def __getnewargs_ex__(self) -> tuple[tuple[str], dict[str, Any]]: ...

@final
class TripleTerm:
    __match_args__: ClassVar[tuple[str, str, str]]
    def __new__(cls, subject: Term, predicate: Term, object: Term) -> TripleTerm: ...
    @property
    def subject(self) -> Term: ...
    @property
    def predicate(self) -> Term: ...
    @property
    def object(self) -> Term: ...
    @property
    def value(self) -> str: ...  # canonical N-Triples, like str()
    def __eq__(self, other: _Object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __lt__(self, other: Term, /) -> bool: ...
    def __le__(self, other: Term, /) -> bool: ...
    def __gt__(self, other: Term, /) -> bool: ...
    def __ge__(self, other: Term, /) -> bool: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

Term: TypeAlias = Iri | BlankNode | Literal | TripleTerm

@final
class Quad:
    __match_args__: ClassVar[tuple[str, str, str, str]]
    # If graph is None, the quad is in the default graph. Iteration yields (s, p, o, g). str()
    # returns the N-Quads line without a line feed.
    def __new__(
        cls, subject: Term, predicate: Term, object: Term, graph: Term | None = None
    ) -> Quad: ...
    @property
    def subject(self) -> Term: ...
    @property
    def predicate(self) -> Term: ...
    @property
    def object(self) -> Term: ...
    @property
    def graph(self) -> Term | None: ...
    def __iter__(self) -> Iterator[Term | None]: ...
    def __eq__(self, other: _Object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __lt__(self, other: Quad, /) -> bool: ...
    def __le__(self, other: Quad, /) -> bool: ...
    def __gt__(self, other: Quad, /) -> bool: ...
    def __ge__(self, other: Quad, /) -> bool: ...
    def __getnewargs__(self) -> tuple[Term, Term, Term, Term | None]: ...

def parse_term(text: str, *, max_depth: int = 64) -> Term: ...

# For unpickling. Each step is a term or, for a triple term, the indexes of its parts among the
# previous steps.
def build_triple_term(steps: tuple[Term | tuple[int, int, int], ...]) -> TripleTerm: ...

# --- batches ---

@final
class MessageBatch:
    def __len__(self) -> int: ...
    @property
    def kind(self) -> OneOf["messages"]: ...
    @property
    def record_count(self) -> int: ...
    @property
    def quad_count(self) -> int: ...
    @property
    def first_message_index(self) -> int: ...
    def numbered(
        self, first_message_index: int, /
    ) -> MessageBatch: ...  # numbered from first_message_index
    def _with_places(
        self,
        first_message_index: int,
        indexes: list[int],
        byte_offsets: list[int | None],
        edges: tuple[bool, bool],
    ) -> MessageBatch: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    @property
    def continued(self) -> bool: ...
    @property
    def continues(self) -> bool: ...
    @property
    def has_graphs(self) -> bool: ...
    @property
    def memory_bytes(self) -> int: ...
    def __iter__(self) -> Iterator[Message]: ...  # views
    def quads(self, message: int) -> list[Quad]: ...
    def quad_counts(self) -> list[int]: ...
    def quad_count_of(self, message: int) -> int: ...
    def metadata(self, message: int) -> dict[str, bytes]: ...
    def namespaces(self, message: int) -> dict[str, str]: ...  # all in scope
    def has_namespaces(self, message: int) -> bool: ...
    # namespaces that the messages declare: number of the message, name, IRI
    def declarations(self) -> list[tuple[int, str, str]]: ...
    # of the message with this number in the batch; negative numbers count from the end
    def message_index(self, message: int) -> int: ...
    def byte_offset(self, message: int) -> int | None: ...  # None: not from a log of bytes
    def slice(self, start: int, stop: int) -> MessageBatch: ...
    # without its first quads, as the continuation of its first message
    def rest_after(self, quads: int, /) -> MessageBatch: ...
    # raises OptionError if the name is not an absolute IRI
    def with_default_graph(self, name: str) -> MessageBatch: ...
    # Arrow: one row per message, with columns source message_index [byte_offset] quads metadata
    # [namespaces]; with rows="quads" one row per quad, with columns source message_index subject
    # predicate object graph
    def to_arrow(
        self,
        columns: list[str] | None = None,
        source: str | None = None,
        *,
        rows: str = "messages",
        terms: str = "ntriples",
    ) -> ArrowBatch: ...
    def __arrow_c_array__(self, requested_schema: Any = None) -> tuple[Any, Any]: ...
    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...
    def __arrow_c_schema__(self) -> Any: ...
    @staticmethod
    def from_arrow(batch: Any, *, max_depth: int = 64) -> MessageBatch: ...
    @staticmethod
    def from_messages(
        messages: Iterable[Message | Iterable[Quad]],
        *,
        first_message_index: int = 0,
        after: MessageBatch | None = None,
    ) -> MessageBatch: ...

@final
class PatchBatch:
    def __len__(self) -> int: ...
    @property
    def kind(self) -> OneOf["patches"]: ...
    @property
    def record_count(self) -> int: ...  # operations
    @property
    def first_message_index(self) -> int: ...
    @property
    def continued(self) -> bool: ...
    @property
    def continues(self) -> bool: ...
    @property
    def has_graphs(self) -> bool: ...
    @property
    def memory_bytes(self) -> int: ...
    def __iter__(self) -> Iterator[Patch]: ...  # views
    def operations(self, patch: int) -> list[OperationTuple]: ...
    def headers(self) -> list[tuple[int, str, Term]]: ...  # patch, key, value
    def operation_counts(self) -> list[int]: ...
    def operation_count_of(self, patch: int) -> int: ...
    def code_counts(self) -> list[tuple[str, int]]: ...
    def message_index(self, patch: int) -> int: ...
    def byte_offset(self, patch: int) -> int | None: ...
    def _with_places(
        self,
        first_message_index: int,
        indexes: list[int],
        byte_offsets: list[int | None],
        edges: tuple[bool, bool],
    ) -> PatchBatch: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    def slice(self, start: int, stop: int) -> PatchBatch: ...
    # Arrow: one row per patch, with columns source message_index [byte_offset] operations metadata
    # [namespaces]
    def to_arrow(
        self,
        columns: list[str] | None = None,
        source: str | None = None,
        *,
        terms: str = "ntriples",
    ) -> ArrowBatch: ...
    def __arrow_c_array__(self, requested_schema: Any = None) -> tuple[Any, Any]: ...
    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...
    def __arrow_c_schema__(self) -> Any: ...
    @staticmethod
    def from_arrow(batch: Any, *, max_depth: int = 64) -> PatchBatch: ...
    @staticmethod
    def from_patches(
        patches: Iterable[Iterable[OperationTuple]], *, first_message_index: int = 0
    ) -> PatchBatch: ...

@final
class ResultBatch:
    def __len__(self) -> int: ...
    @property
    def kind(self) -> OneOf["results"]: ...
    @property
    def record_count(self) -> int: ...  # rows
    @property
    def first_message_index(self) -> int: ...
    @property
    def variables(self) -> tuple[str, ...]: ...
    @property
    def boolean(self) -> bool | None: ...
    @property
    def links(self) -> tuple[str, ...]: ...
    @property
    def continued(self) -> bool: ...
    @property
    def continues(self) -> bool: ...
    @property
    def memory_bytes(self) -> int: ...
    def __iter__(self) -> Iterator[tuple[Term | None, ...]]: ...
    def rows(self) -> list[tuple[Term | None, ...]]: ...
    def message_index(self, row: int) -> int: ...
    def byte_offset(self, row: int) -> int | None: ...
    def _with_places(
        self,
        first_message_index: int,
        indexes: list[int],
        byte_offsets: list[int | None],
        edges: tuple[bool, bool],
    ) -> ResultBatch: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    def slice(self, start: int, stop: int) -> ResultBatch: ...
    # cells of the variable at a position in some rows, as rows of that variable
    def cells(self, variable: int, rows: Sequence[int]) -> ResultBatch: ...
    # the rows, each preceded by the name of the log and the index of the row's message. Blank node
    # labels begin with the number of the message across all logs, which is `first` plus that index
    def labelled(self, source: str, messages: Sequence[int], first: int) -> ResultBatch: ...
    # Arrow: one column per variable; raises ValueError for the answer to an ASK query
    def to_arrow(self, *, terms: str = "ntriples") -> ArrowBatch: ...
    def __arrow_c_array__(self, requested_schema: Any = None) -> tuple[Any, Any]: ...
    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...
    def __arrow_c_schema__(self) -> Any: ...
    @staticmethod
    def from_rows(
        rows: Iterable[Iterable[Term | None]],
        variables: list[str],
        *,
        boolean: bool | None = None,
        links: Sequence[str] = ...,
        first_message_index: int = 0,
    ) -> ResultBatch: ...

# --- changes ---

# An in-memory dataset to which patches are applied. Blank nodes are identified by their labels.
@final
class Dataset:
    def __new__(cls) -> Dataset: ...
    def __len__(self) -> int: ...  # quads
    def add(self, batch: MessageBatch, /) -> None: ...
    def apply(self, batch: PatchBatch, /, *, chain: bool = True) -> None: ...
    def applied(self) -> dict[str, int]: ...
    def has_namespaces(self) -> bool: ...
    # passes one message to `take`, batch by batch
    def batches(self, take: Callable[[MessageBatch], Any], /, *, parts: bool = False) -> None: ...

# The changes from an old dataset to a new one, as a patch. The old dataset is empty afterwards.
@final
class DatasetDifference:
    def __new__(
        cls,
        old: Dataset,
        /,
        *,
        index: int = 0,
        parts: bool = False,
        max_bytes: int | None = None,
    ) -> DatasetDifference: ...
    def add(self, batch: MessageBatch, /) -> None: ...
    def counts(self) -> tuple[int, int]: ...  # to delete, to add
    def next_batch(self) -> PatchBatch | None: ...

@final
class ToPatches:
    def __new__(cls, *, patches: int = 0) -> ToPatches: ...  # patches before the first message
    def patches(self, batch: MessageBatch, /) -> PatchBatch | None: ...
    def dropped(self) -> int: ...  # metadata entries

# Adds `id` and `prev` headers to the patches of a log.
@final
class PatchChain:
    def __new__(cls) -> PatchChain: ...
    def follow(self, batch: PatchBatch, /) -> None: ...  # patches before the next one to link
    def link(self, batch: PatchBatch, /) -> PatchBatch | None: ...  # complete patches

@final
class ToMessages:
    def __new__(
        cls, *, separate: bool = False, max_message_bytes: int = 67108864
    ) -> ToMessages: ...
    def messages(self, batch: PatchBatch, /) -> MessageBatch | None: ...
    def take(self) -> MessageBatch | None: ...
    def dropped(self) -> dict[str, int]: ...

# Checks the rules for applying patches: the order of transactions, and the chain of ids.
@final
class PatchRules:
    def __new__(cls) -> PatchRules: ...
    def begin_log(self) -> None: ...  # the next patches are from another log
    def skip(self) -> None: ...  # patches are missing here
    def links(self) -> int: ...  # patches with prev
    # rule ("transaction", "unfinished", "chain" or "chain-of-logs"), message index, row, byte offset,
    # text
    def check(self, batch: PatchBatch, /) -> list[tuple[str, int, int, int | None, str]]: ...

# Differences between the messages of log 0 (old) and log 1 (new); with `snapshots`, between
# consecutive messages of log 1.
@final
class MessageDifferences:
    def __new__(cls, *, snapshots: bool = False) -> MessageDifferences: ...
    def next_log(self) -> int | None: ...
    def add(self, log: int, batch: MessageBatch, /) -> None: ...
    def end(self, log: int, /) -> None: ...
    def next_batch(self) -> PatchBatch | None: ...
    def counts(self) -> tuple[int, int]: ...  # deleted, added

# Returns blocks of inverse operations. The caller stores them and passes them to BackwardPatches in
# reverse order.
@final
class InversePatches:
    def __new__(
        cls, *, chain: bool = True, max_message_bytes: int = 67108864
    ) -> InversePatches: ...
    # blocks to store, and numbers of blocks to discard
    def add(self, batch: PatchBatch, /) -> list[PatchBatch | int]: ...
    def done(self) -> dict[str, int]: ...
    def finish(self, *, parts: bool = False) -> tuple[PatchBatch | None, BackwardPatches]: ...

@final
class BackwardPatches:
    def add(self, block: PatchBatch, /) -> list[PatchBatch]: ...
    def finish(self) -> PatchBatch | None: ...
    def counts(self) -> tuple[int, int]: ...  # deletes, adds

# Cuts batches into slices for separate logs. Each log begins with the namespaces in scope or, if
# there are more than 256, only with those that its messages declare or use.
@final
class Slices:
    def __new__(cls) -> Slices: ...
    def take(
        self, batch: MessageBatch, start: int, stop: int, begins: bool
    ) -> list[MessageBatch]: ...

# Predicates, datatypes and keys of messages or patches. The report is a dict of lists; each list is
# a dict of `counts` (the most frequent names), `number` (of stored names) and `others` (occurrences
# of other names).
@final
class NameListing:
    def __new__(cls) -> NameListing: ...
    def add(self, batch: AnyBatch, /) -> None: ...
    def report(self, top: int) -> dict[str, Any]: ...

# Log statistics. The report is a dict of numbers for rdfm.analysis.statistics.
@final
class StatisticsCounter:
    # plain: message sizes do not include delimiters. first: the smallest number of a message or
    # log; statistics that are to be merged need disjoint ranges of these numbers
    def __new__(cls, *, plain: bool = False, first: int = 0) -> StatisticsCounter: ...
    def start_log(self) -> None: ...
    def add(self, batch: AnyBatch, /) -> None: ...
    def to_bytes(self) -> bytes: ...
    def merge(self, other: bytes) -> None: ...  # raises ValueError for another version of rdfm
    def report(self, top: int) -> dict[str, Any]: ...

# The rules of a stream type. `graphs` is "none", "one" or "any"; a subject shape
# consists of "class", "subjects-of", "objects-of" or "quoted-subjects", and an IRI.
@final
class StreamRules:
    def __new__(
        cls,
        graphs: str,
        *,
        time: str | None = None,
        subjects: Sequence[tuple[str, str]] = ...,
        has_root: bool = False,
        generalized_triples: bool = False,
        generalized_graphs: bool = False,
        rdf12: bool = False,
    ) -> StreamRules: ...
    # the messages as quad sets in RiverBench order, and the first violation in each: index of the
    # message index, rule ("graphs", "time", "subject", "rdf12" or "generalized"), text
    def apply(self, batch: MessageBatch, /) -> tuple[MessageBatch, list[tuple[int, str, str]]]: ...

# An Arrow record batch: pyarrow.record_batch(it), polars.DataFrame(it), …
@final
class ArrowBatch:
    def __len__(self) -> int: ...  # rows
    @property
    def nbytes(self) -> int: ...
    @property
    def column_names(self) -> list[str]: ...
    def __arrow_c_array__(self, requested_schema: Any = None) -> tuple[Any, Any]: ...
    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...
    def __arrow_c_schema__(self) -> Any: ...

# Converts Arrow rows to batches on demand. The batches are as large as those of a decoder. An error
# is raised after the rows that precede it. Batches contain patches if there is an `operations`
# column, otherwise messages.
def batches_from_arrow(
    rows: Any,
    *,
    first_message_index: int = 0,
    max_depth: int = 64,
    max_message_bytes: int | None = None,
) -> Iterator[MessageBatch] | Iterator[PatchBatch]: ...

# Converts several batches to one Arrow batch. Raises LimitError if the strings exceed 2 GiB.
def coalesce(
    batches: list[MessageBatch],
    columns: list[str] | None = None,
    source: str | None = None,
    *,
    rows: str = "messages",
    terms: str = "ntriples",
) -> ArrowBatch: ...

# Resizes batches: each ArrowBatch except the last has max_rows rows or about max_bytes of strings.
@final
class ArrowCoalescer:
    def __new__(
        cls,
        columns: list[str] | None = None,
        *,
        kind: str = "messages",
        max_rows: int = 8192,
        max_bytes: int = 67108864,
        rows: str = "messages",
        terms: str = "ntriples",
    ) -> ArrowCoalescer: ...
    def push(self, batch: AnyBatch, source: str | None = None) -> list[ArrowBatch]: ...
    def finish(self) -> ArrowBatch | None: ...
    # for quad rows: messages without quads, metadata entries, messages indistinguishable from the
    # previous one
    def dropped(self) -> tuple[int, int, int]: ...

# Converts quad rows to messages. Consecutive rows with the same source and message index form
# one message.
@final
class QuadRows:
    def __new__(
        cls,
        *,
        max_depth: int,
        max_message_bytes: int,
        first_message_index: int = 0,
        parts: bool = False,
    ) -> QuadRows: ...
    def feed(self, rows: Any) -> None: ...
    def finish(self) -> None: ...
    def next_batch(
        self,
    ) -> MessageBatch | None: ...  # None: more input is needed; after finish: done
    @property
    def row(self) -> int | None: ...

# For each column of each row group: number of values, number of the compression codec, total page
# size in bytes, offset of the first data page, offset of the dictionary page.
def parquet_columns(footer: bytes) -> list[list[tuple[int, int, int, int, int | None]]]: ...

# The pages of one column in a Parquet row group, and upper bounds on their decoded size. A page is
# a tuple of its offset, size in the file, decompressed size, size of its uncompressed levels, and
# whether its values are compressed.
@final
class ParquetColumn:
    def __new__(
        cls,
        values: int,
        *,
        max_definition: int,
        max_repetition: int,
        width: int | None,
        max_row_bytes: int,
    ) -> ParquetColumn: ...
    def add(self, offset: int, header: bytes) -> int | None: ...  # None: the header is truncated
    @property
    def complete(self) -> bool: ...
    @property
    def page_bytes(self) -> int: ...
    @property
    def bound(self) -> int: ...
    @property
    def dictionary(self) -> tuple[int, int, int, int, bool] | None: ...
    @property
    def pages(self) -> list[tuple[tuple[int, int, int, int, bool], bool, bool]]: ...
    def scan_dictionary(self, data: bytes) -> None: ...
    def begin(self) -> None: ...
    def scan(self, page: int, data: bytes) -> bool: ...  # False: a row is too large
    def skip(self, page: int) -> None: ...
    def finish(self) -> tuple[list[int], int | None]: ...

# Joins Parquet files with the same schema into one. `add` returns the next bytes of the joined
# file, and `finish` the last ones.
@final
class ParquetJoiner:
    def __new__(cls) -> ParquetJoiner: ...
    def add(self, file: bytes) -> bytes: ...
    def finish(self) -> bytes: ...

# An Arrow array: pyarrow.array(it), polars.Series(it), …
@final
class ArrowArray:
    def __len__(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    def __arrow_c_array__(self, requested_schema: Any = None) -> tuple[Any, Any]: ...
    def __arrow_c_schema__(self) -> Any: ...

# Convert bytes to quad or operation lists, and back. Each value is a complete log of one message.
# See rdfm.conversion.values.
def decode_values(
    decoder: Decoder | Callable[[bytes], Iterable[AnyBatch]],
    values: Any,
    *,
    on_error: OneOf["raise", "null"] = "raise",
    kind: str = "messages",
) -> ArrowArray: ...
def encode_values(
    encoder: Encoder | Callable[[Any], bytes],
    lists: Any,
    *,
    max_depth: int = 64,
    kind: str = "messages",
) -> ArrowArray: ...

# --- comparison ---

# Compares two logs, one batch of each at a time. The sides are 0 and 1. A difference is a sum
# of 1 (records), 2 (metadata), 4 (namespaces) and 8 (undecided).
@final
class Comparer:
    def __new__(
        cls,
        mode: str,  # "sets", "sequences", "exact"
        *,
        metadata: bool = False,
        namespaces: str = "ignored",  # "noticed", "compared"
        max_steps: int,
        max_total_steps: int,
        secret: bytes | None = None,  # 32 bytes that determine the signatures
    ) -> Comparer: ...
    def set_columns(self, a: list[int | None], b: list[int | None]) -> None: ...
    # number of equal pairs, number of records of `a` in them, difference of the next pair
    def run(
        self, a: AnyBatch, i: int, b: AnyBatch, j: int, max_pairs: int
    ) -> tuple[int, int, int]: ...
    def metadata_and_namespaces(self, a: AnyBatch, i: int, b: AnyBatch, j: int) -> int: ...
    def redeclared(self) -> list[tuple[str, str | None, str | None]]: ...
    def namespaces_differ(self) -> bool: ...
    # whether each limit was reached: max_steps, max_total_steps
    def reached(self) -> tuple[bool, bool]: ...
    def signatures(self, side_number: int, batch: AnyBatch, start: int, stop: int) -> bytes: ...
    # 16 bytes each; None if computing a signature exceeds a limit
    def full_signatures(self, batch: AnyBatch) -> list[bytes | None]: ...
    def collect(self, side_number: int, batch: AnyBatch) -> list[int]: ...
    def compare_multisets(self) -> tuple[int, int, int]: ...
    def surplus(self, side_number: int, batch: AnyBatch) -> list[int]: ...

def common_blocks(a: bytes, b: bytes) -> list[tuple[int, int, int]]: ...
def canonical_text(batch: MessageBatch, message: int, *, max_steps: int) -> str: ...
def canonical_labels(
    batch: MessageBatch, message: int, *, max_steps: int
) -> list[tuple[str, str]]: ...
def canonicalize(
    batch: MessageBatch, *, max_steps: int
) -> tuple[MessageBatch, int, EncodeError | LimitError | None]: ...
def canonical_hashes(
    batch: MessageBatch, *, max_steps: int
) -> tuple[bytes, EncodeError | LimitError | None]: ...

@final
class SeenMessages:
    def __new__(cls, by: str) -> SeenMessages: ...
    def add(
        self, batch: MessageBatch, *, max_steps: int
    ) -> tuple[list[MessageBatch], int, EncodeError | LimitError | None]: ...

def isomorphism(
    a: MessageBatch, b: MessageBatch, *, max_steps: int
) -> list[tuple[str, str]] | None: ...

# --- codecs: an unknown option or invalid value raises OptionError ---

@final
class Decoder:
    # split: start, stop (or None) and dialect (or None) of the split to read
    # context_loader: takes a URL and returns (document, final URL), or None if it has no document
    def __new__(
        cls,
        format: str,
        options: dict[str, Any] | None = None,
        /,
        *,
        parts: str = "never",  # "never", "frames", "always"
        split: tuple[int, int | None, str | None] | None = None,
        first_message_index: int | None = None,
        checks_marks: bool = False,
        context_loader: Callable[[str], tuple[bytes, str] | None] | None = None,
        skip_lines: bool = False,  # keep the rest of a message with lines that are not statements
    ) -> Decoder: ...
    @property
    def format(self) -> str: ...
    def feed(self, piece: Buffer, /) -> None: ...
    def finish(self) -> None: ...
    def next_batch(self) -> AnyBatch | None: ...
    def skip_message(self) -> bytes | None: ...
    @property
    def skip_cut(self) -> bool: ...  # bytes are missing in the last result of skip_message
    # the lines skipped since the last call, without line ends; if there are any, next_batch may have
    # returned None because of them, so call it again before feed
    def take_skipped_lines(self) -> list[tuple[DecodeError, bytes]]: ...
    def reset(self) -> None: ...  # for another log
    # combines reset, feed and finish. Returns batches, and whether they are all batches of the log.
    # If not, next_batch raises the error that follows them or, after a stop, returns the next batch
    def decode_log(
        self, log: bytes, /, stop_bytes: int | None = None
    ) -> tuple[Sequence[AnyBatch], bool]: ...
    # the end of a log with delimiters ("start", "content", "delimiter", "inside"), and the reason
    # if no message can be appended
    def ending(self) -> tuple[str | None, str | None, int | None, str | None]: ...
    @property
    def done(self) -> bool: ...  # all further input belongs to other splits
    # Keys, absent if the property is unknown:
    # dialect, version_label
    # options: the stream options, by the names of the encoder's options
    # restarts: True if the first frame has a restart mark, so that the log can be read in splits
    # look_alikes: number of comments that look like delimiters but are not; look_alike_offsets: the
    # offsets of the first ones
    # warnings: legal but suspicious data so far: for each rule of `validate` its name, the number
    # of findings, and the byte offset, frame index and text of each of the first ones
    # notes: notes for readers of the log, one sentence each; joined: a note, if Jelly logs may have
    # been joined
    # trailing_namespaces: at the end of the log, the number of declarations after the last message,
    # which belong to no message
    def header(self) -> Mapping[str, Any]: ...

# Counts the delimiters in a split, or the messages if the log consists of frames. The input and
# options are the same as for a decoder of the split.
@final
class DelimiterCounter:
    def __new__(
        cls,
        format: str,
        options: dict[str, Any] | None = None,
        /,
        *,
        split: tuple[int, int | None, str | None] | None = None,
        first_message_index: int | None = None,
    ) -> DelimiterCounter: ...
    def feed(self, piece: Buffer, /) -> None: ...
    def finish(self) -> None: ...
    @property
    def done(self) -> bool: ...
    @property
    def delimiters(self) -> int: ...
    @property
    def content_first(self) -> bool: ...  # a message begins before the first delimiter
    @property
    def indivisible(
        self,
    ) -> bool: ...  # cannot be split: the dialect changes after the head, or frames are damaged

# Divides the batches of a log by message key.
@final
class KeySplitter:
    def __new__(
        cls, kind: str, predicate: str | None, prefixes: Mapping[str, str]
    ) -> KeySplitter: ...
    # the distinct keys (identifying bytes and text), and the number of messages with several keys
    def begin(self, batch: MessageBatch, /) -> tuple[list[tuple[bytes, str]], int]: ...
    # finds the next messages whose keys are live or can become live. live: one byte per key, 1 if the
    # key is live; room: number of keys that may still become live. Returns the number of the message
    # after these messages, and their keys in order of last use
    def live_run(self, live: bytes | bytearray, room: int, /) -> tuple[int, list[int]]: ...
    def encode(
        self, stop: int, encoders: Sequence[Encoder | None], /
    ) -> tuple[list[tuple[int, bytes]], Exception | None]: ...
    def slices(self, stop: int, /) -> list[tuple[int, MessageBatch]]: ...
    def prefixes(self) -> list[str]: ...
    def undeclared(self) -> list[str]: ...

# Follows the length prefixes of messages. Feed it the bytes from the offset `next` on.
@final
class LengthChain:
    def __new__(cls, offset: int = 0, /) -> LengthChain: ...
    def feed(self, piece: bytes, /) -> None: ...
    @property
    def end(self) -> int: ...  # of the last complete message
    @property
    def messages(self) -> int: ...
    @property
    def next(self) -> int: ...
    @property
    def is_malformed(self) -> bool: ...

@final
class Encoder:
    # source: properties of the log that the messages come from: carries, dialect, options,
    # requested, namespaces, flat and continued
    def __new__(
        cls,
        format: str,
        options: dict[str, Any] | None = None,
        /,
        *,
        source: dict[str, Any] | None = None,
    ) -> Encoder: ...
    @property
    def format(self) -> str: ...
    def encode(
        self,
        batch: AnyBatch,
        /,
        source: str | None = None,
        *,
        place: tuple[int, bool, bool] | None = None,
    ) -> bytes: ...
    # like `encode`, but returns the bytes without a copy
    def encode_view(
        self,
        batch: AnyBatch,
        /,
        source: str | None = None,
        *,
        place: tuple[int, bool, bool] | None = None,
    ) -> memoryview: ...
    # skips a batch that a twin writes, and returns its place; None if this encoder must write it
    def skip(self, batch: AnyBatch, /) -> tuple[int, bool, bool] | None: ...
    def twin(self) -> Encoder | None: ...  # writes skipped batches
    def finish(self) -> bytes: ...
    def continue_log(self, end: str, /) -> None: ...  # start after a log with this end
    def pause(
        self,
    ) -> tuple[
        bytes, str | None
    ]: ...  # bytes that complete the log, end for continue_log (None inside a message)
    def reset(self) -> None: ...  # for another log
    def dropped(self) -> dict[str, int]: ...
    def notes(self) -> list[str]: ...  # notes for readers of the log

# Tar archive members: name (None for a continuation), bytes, whether the member ends, reason for
# rejecting it.
@final
class TarMembers:
    def __new__(cls) -> TarMembers: ...
    def feed(self, piece: Buffer, /) -> None: ...
    def finish(self) -> None: ...
    def parts(self) -> list[tuple[str | None, bytes, bool, str | None]]: ...

# Changes message boundaries. It is used like a decoder, but its input is batches.
@final
class Regrouper:
    def __new__(
        cls,
        by: str,
        number: int = 0,
        *,
        skolemize: str | None = None,
        parts: bool = False,
        max_message_bytes: int | None = None,
    ) -> Regrouper: ...
    def number_from(self, first: int, /) -> None: ...
    def feed(self, batch: MessageBatch, /) -> None: ...
    def finish(self) -> None: ...
    def next_batch(self) -> MessageBatch | None: ...
    def dropped(self) -> dict[str, int]: ...

# Names of the native formats, in the order of detection and listing.
def format_names() -> list[str]: ...

# The fields of rdfm.formats.FormatSpec; options are dicts of the fields of OptionSpec.
def format_spec(name: str) -> dict[str, Any]: ...

# The checked value of an option, given as a value or as a string.
def option_value(
    name: str,
    kind: str,
    minimum: int,
    maximum: int,
    choices: list[tuple[str, int]],
    given: object,
) -> Any: ...

# Whether the first bytes of a log are those of a format; None if more bytes are needed.
def sniff(format: str, head: bytes, complete: bool) -> bool | None: ...

# --- Jelly gRPC; malformed messages are ValueErrors ---

# The fields of rdfm.storage.jelly_wire.StreamOptions.
_OptionFields: TypeAlias = tuple[str, int, bool, bool, int, int, int, int, int, int]

def read_subscription(message: bytes) -> tuple[str, _OptionFields]: ...
def has_rows(frame: bytes) -> bool: ...
def is_marked(frame: bytes) -> bool: ...
def first_options(frame: bytes) -> _OptionFields | None: ...
def write_options(options: _OptionFields) -> bytes: ...
def delimited(message: bytes) -> bytes: ...

# The frames, the offset after the last one, and the number of bytes missing from the next one.
def cut_frames(data: bytes, start: int, max_bytes: int) -> tuple[list[bytes], int, int]: ...

# --- warnings ---

# Finds valid but suspicious data. It returns at most `limit` findings per rule, and counts the
# others.
@final
class Checker:
    def __new__(cls, limit: int) -> Checker: ...
    # labels and prefixes are scoped to one log; own: prefix of the IRIs that were resolved against
    # the log's URL
    def begin_log(self, own: str) -> None: ...
    # rule, message index, byte offset of the message, text, the term as written in text logs
    def check(
        self,
        batch: MessageBatch | PatchBatch | ResultBatch,
        labels: OneOf["none", "chosen", "all"],
    ) -> list[tuple[str, int, int | None, str, bytes]]: ...
    def counts(self) -> list[tuple[str, int]]: ...  # by rule

def count_lines(piece: Buffer) -> int: ...
def is_lexical_form(datatype: str, text: str) -> bool | None: ...  # None: not checked
def checked_datatypes() -> list[str]: ...

# --- nanopublications ---

# rule, whether it is an error, text, the term as written in text logs
_NanopubProblem = tuple[str, bool, str, bytes]
# algorithm, public key, signature, digest of the signed text
_NanopubSignature = tuple[str, str, str, bytes]

# index of the message in the batch, number of nanopublications in the message, IRI, whether the
# trusty URI is correct, problems, signature
def check_nanopubs(
    batch: MessageBatch,
) -> list[tuple[int, int, str | None, bool, list[_NanopubProblem], _NanopubSignature | None]]: ...
def verify_nanopubs(
    batch: MessageBatch,
) -> list[str | None]: ...  # the first problem of each message

# message, IRI, creators, created, license, types, introduces, retracts, supersedes, public key hash
def describe_nanopubs(
    batch: MessageBatch,
) -> list[
    tuple[
        int,
        str,
        list[str],
        str | None,
        str | None,
        list[str],
        list[str],
        list[str],
        list[str],
        str | None,
    ]
]: ...
def artifact_code(batch: MessageBatch, message: int, code: str | None = None) -> str: ...
def artifact_code_of_iri(iri: str) -> str | None: ...

# --- filters ---

@final
class Filter:
    # prefixes: namespaces by prefix; they take precedence over declarations in logs
    def __new__(cls, prefixes: Mapping[str, str]) -> Filter: ...
    def begin_pattern(self) -> None: ...
    # position: "subject", "predicate", "object", "graph" or "any"; raises OptionError if the text
    # is not a valid term
    def term(self, position: str, text: str) -> None: ...
    # one of several terms in N-Triples
    def one_of(self, position: str, texts: Sequence[str]) -> None: ...
    def default_graph(self) -> None: ...
    def contains(self, text: str) -> None: ...
    def matches(self, expression: str) -> None: ...  # raises OptionError
    # xsd:dateTime or xsd:date values; raises OptionError if one of them is invalid
    # any_property: the predicate is one of the known time properties, in another quad
    def within(self, first: str | None, end: str | None, *, any_property: bool = False) -> None: ...
    def lacks_times(self) -> bool: ...  # no message has a known time property so far
    # the messages that match, or those that do not
    def messages(self, batch: MessageBatch, inverted: bool) -> list[MessageBatch]: ...
    # the messages with only the quads that match, or only those that do not; messages without such
    # quads are omitted. Messages may be in parts if the filter tests single quads
    def quads(self, batch: MessageBatch, inverted: bool) -> list[MessageBatch]: ...
    def tests_single_quads(self) -> bool: ...
    def prefixes(self) -> list[str]: ...  # prefixes whose namespaces are taken from the logs
    def undeclared(self) -> list[str]: ...  # prefixes that no log has declared so far

@final
class Query:
    # prefixes: namespaces by prefix, for prefixes that the query does not declare; timeout: in
    # seconds, per message or for the entire dataset; max_rows: per message or for the entire
    # dataset; raises QueryError if the query is invalid or not supported
    def __new__(
        cls,
        text: str,
        *,
        base: str | None = None,
        prefixes: Mapping[str, str] | None = None,
        union_graphs: bool = False,
        timeout: float | None = None,
        max_rows: int | None = None,
        native: bool = True,  # whether supported patterns are matched without the evaluator
    ) -> Query: ...
    @property
    def kind(self) -> str: ...  # "select", "construct" or "ask"
    @property
    def uses_default_graph(self) -> bool: ...  # a pattern matches it, and there is no FROM
    @property
    def variables(self) -> list[str]: ...  # of SELECT, or of the template of CONSTRUCT
    @property
    def prefixes(self) -> dict[str, str]: ...  # namespaces that the query declares
    # These evaluate each message separately, from `start` until the result is large. Continue at
    # `done`.
    def solutions(self, batch: MessageBatch, start: int = 0) -> EvaluationResult: ...
    def construct(self, batch: MessageBatch, start: int = 0) -> EvaluationResult: ...
    def answers(self, batch: MessageBatch, start: int = 0) -> EvaluationResult: ...
    # the messages that CONSTRUCT creates from rows, one per row; None if there are no rows
    def instantiate(self, results: ResultBatch) -> MessageBatch | None: ...
    # the first batch of rows may be empty
    def whole(self, dataset: QueryDataset) -> WholeResult: ...
    def cancel(self) -> None: ...

@final
class EvaluationResult:
    @property
    def rows(self) -> ResultBatch | None: ...  # of SELECT
    @property
    def messages(self) -> list[int]: ...  # for each row, the number of its message in the batch
    @property
    def constructed(
        self,
    ) -> MessageBatch | None: ...  # one message per evaluated message; None if there are none
    @property
    def answers(self) -> list[bool]: ...  # of ASK, one per message
    @property
    def done(self) -> int: ...  # the first message that was not evaluated
    # the reason if the evaluation ended at the message `done`, and the option that raises the limit
    @property
    def error(self) -> tuple[str, str | None] | None: ...
    @property
    def has_named(self) -> bool: ...  # whether a message has named graphs

# Typed columns of SELECT results: source and message_index (unless all messages form one dataset), and
# the variables.
@final
class TypedColumns:
    # types: the type of each variable, one of string, iri, boolean, integer, decimal, float,
    # double, dateTime, date, time or duration; other columns contain terms as N-Triples. Raises
    # OptionError if a type or variable is unknown, or a column name would occur twice
    def __new__(
        cls,
        variables: Sequence[str],
        types: Mapping[str, str] | None = None,
        *,
        messages: bool = True,
    ) -> TypedColumns: ...
    def __arrow_c_schema__(self) -> Any: ...
    # the rows, and the number of values that are null because they do not fit their column. Raises
    # UnsupportedError if a value does not fit (message_index is its message), LimitError if the
    # strings exceed 2 GiB
    def of_messages(
        self,
        evaluated: EvaluationResult,
        batch: MessageBatch,
        source: str | None = None,
        *,
        misfits_are_null: bool = False,
    ) -> tuple[ArrowBatch, int]: ...
    def of_rows(
        self,
        rows: ResultBatch,
        messages: Sequence[int] | None = None,
        source: str | None = None,
        *,
        misfits_are_null: bool = False,
    ) -> tuple[ArrowBatch, int]: ...

@final
class WholeResult:
    # yields rows, messages (one per row), or the answer to an ASK query; raises LimitError if a
    # limit ended the evaluation
    def __iter__(self) -> WholeResult: ...
    def __next__(self) -> ResultBatch | MessageBatch | bool: ...
    def close(self) -> None: ...

@final
class QueryDataset:
    def __new__(cls) -> QueryDataset: ...
    # raises LimitError if the dataset is larger than 2 GiB
    def add(self, batch: MessageBatch) -> None: ...
    @property
    def has_named(self) -> bool: ...
