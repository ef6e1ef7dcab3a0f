"""Parts of terms, and quads as rows, as Spark expressions without Python workers.

In: columns of N-Triples terms, as in `quads`; DataFrames of messages or quads.
Out: columns, or DataFrames, including on Spark Connect.
Cost: Spark's string functions. A string with a backslash is searched once more.
Law: no term raises an error, regardless of the session's settings. The result is null for null, and
for a part that a term does not have. For a string that is not an N-Triples term, it is null or
computed from the first characters.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import wraps
from typing import TypeAlias, TypeVar, cast

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ArrayType,
    DataType,
    DateType,
    MapType,
    StringType,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from rdfm.errors import OptionError
from rdfm.spark.schema import PARTS, QUADS

__all__ = [
    "ESCAPES",
    "NO_ESCAPE",
    "datatype",
    "direction",
    "explode_quads",
    "iri",
    "is_blank",
    "language",
    "messages",
    "term_kind",
    "value",
]

Term: TypeAlias = "Column | str"
Helper = TypeVar("Helper", bound=Callable[[Term], Column])

_XSD_STRING = "http://www.w3.org/2001/XMLSchema#string"
_LANG_STRING = "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString"
_DIR_LANG_STRING = "http://www.w3.org/1999/02/22-rdf-syntax-ns#dirLangString"

ESCAPES = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f", '"': '"', "'": "'"}
# A backslash that does not begin a valid escape. Surrogates and code points above U+10FFFF are not
# valid.
NO_ESCAPE = (
    r"\\(?!u(?![Dd][89A-Fa-f])[0-9A-Fa-f]{4}"
    r"|U(?!0000[Dd][89A-Fa-f])(?:000[0-9A-Fa-f]|0010)[0-9A-Fa-f]{4})"
)

# Columns that identify a message. One of the last two is enough: rows from Parquet and Arrow have no
# byte offset, and message indexes are read only on request.
_IDENTITY = ("source", "message_index", "byte_offset")
_NO_IDENTITY = (
    "a message without a byte_offset, such as a row of Parquet or Arrow, is identified by its message_index; read the "
    "column message_index too, or name other columns with by=[…]"
)
_INDEX = "quad_index"


def _named_like_spark(function: Helper) -> Helper:
    """Name the result as Spark's built-in functions do: `iri(subject)`."""

    @wraps(function)
    def named(col: Term) -> Column:
        column = _column(col)
        text = re.fullmatch("Column<'(.*)'>", str(column), re.DOTALL)
        return function(column).alias(f"{function.__name__}({text[1] if text else column})")

    return cast("Helper", named)


@_named_like_spark
def term_kind(col: Term) -> Column:
    """Return `iri`, `blank node`, `literal` or `triple term`.

    Null, which is the default graph, gives null.

    Args:
        col: A column of terms, or its name.
    """
    term = _column(col)
    return (
        F.when(term.startswith('"'), "literal")
        .when(term.startswith("<<"), "triple term")
        .when(term.startswith("<"), "iri")
        .when(term.startswith("_:"), "blank node")
    )


@_named_like_spark
def is_blank(col: Term) -> Column:
    """Return whether a term is a blank node; null for null.

    Args:
        col: A column of terms, or its name.
    """
    return _column(col).startswith("_:")


@_named_like_spark
def iri(col: Term) -> Column:
    """Return an IRI without angle brackets; null for other terms.

    Args:
        col: A column of terms, or its name.
    """
    term = _column(col)
    return F.when(_is_iri(term), _unescaped(_inside(term), term))


@_named_like_spark
def value(col: Term) -> Column:
    """Return the value of a term, like the attribute `value` of rdfm's terms.

    The value is an IRI without angle brackets, the label of a blank node after `_:`, the lexical
    form of a literal, or the N-Triples form of a triple term.

    Args:
        col: A column of terms, or its name.
    """
    term = _column(col)
    escaped = F.when(
        _is_literal(term), F.substring(term, 2, F.length(term) - F.length(_rest(term)) - 2)
    ).when(_is_iri(term), _inside(term))
    return (
        F.when(term.startswith("_:"), F.substr(term, F.lit(3)))
        .when(term.startswith("<<"), term)
        .otherwise(_unescaped(escaped, term))
    )


@_named_like_spark
def language(col: Term) -> Column:
    """Return the language tag of a literal, in its original case; null for other terms.

    Args:
        col: A column of terms, or its name.
    """
    suffix = _suffix(_column(col))
    return F.when(suffix.startswith("@"), F.substring_index(F.substr(suffix, F.lit(2)), "--", 1))


@_named_like_spark
def direction(col: Term) -> Column:
    """Return the base direction of a literal, `ltr` or `rtl`; null for other terms.

    Args:
        col: A column of terms, or its name.
    """
    suffix = _suffix(_column(col))
    return F.when(
        suffix.startswith("@"),
        F.when(suffix.endswith("--ltr"), "ltr").when(suffix.endswith("--rtl"), "rtl"),
    )


@_named_like_spark
def datatype(col: Term) -> Column:
    """Return the IRI of a literal's datatype; null for other terms.

    This includes the implied datatypes `xsd:string`, `rdf:langString` and `rdf:dirLangString`.

    Args:
        col: A column of terms, or its name.
    """
    term = _column(col)
    rest = _rest(term)
    # An IRI does not contain `<`.
    written = F.substring_index(term, "<", -1)
    datatype_iri = F.substring(written, 1, F.length(written) - 1)
    return F.when(
        _is_literal(term),
        F.when(term.endswith('"'), _XSD_STRING)
        .when(term.endswith(">") & rest.contains("^^"), _unescaped(datatype_iri, term))
        .when(rest.contains("--"), _DIR_LANG_STRING)
        .when(rest.contains("@"), _LANG_STRING),
    )


def explode_quads(
    df: DataFrame, by: str | Sequence[str] | None = None, *, keep_empty: bool = False
) -> DataFrame:
    """Return one row per quad: `quad_index`, its four terms, and the other columns of the message.

    Blank nodes, including those in triple terms, get labels that are unique to their message, so
    joins cannot match them by accident: `_:b` becomes `_:m<md5 of the message's identity>_b`. The
    labels of a message are the same on every run.

    Args:
        df: Messages, with a column `quads` of rdfm's schema.
        by: Columns that identify a message, such as `topic`, `partition` and `offset` of Kafka.
            Defaults to `source` with `byte_offset` or, for rows of Parquet and Arrow,
            `message_index`.
        keep_empty: Keep a message without quads, or with null quads, as one row without terms.
            By default, it is omitted.

    Raises:
        OptionError: If a required column is missing, or a column that this function adds already
            exists. The query fails if a message has neither a byte offset nor an index.
    """
    _require(df, ["quads"], "explode_quads")
    if "struct<kind" in df.schema["quads"].dataType.simpleString():
        raise OptionError(
            "explode_quads takes terms as N-Triples; to read quads with terms as structs, use rows=quads"
        )
    for name in (_INDEX, *PARTS):
        if name in df.columns:
            raise OptionError(
                f"explode_quads adds a column {name}; rename or drop the existing one"
            )
    keys = _identity(df, by, "explode_quads")
    values = [_canonical(_named(name), df.schema[name].dataType).alias(name) for name in keys]
    if by is None and {"message_index", "byte_offset"} <= set(keys):
        # The labels are the same whether or not the index was also read.
        index = F.when(F.col("byte_offset").isNull(), F.col("message_index"))
        values[keys.index("message_index")] = index.alias("message_index")
    identity = F.to_json(F.struct(*values), {"ignoreNullFields": "true"})
    if by is None:
        identity = _checked(identity, keys, F.col("quads").isNotNull())
    label, quad = _unused_name(df, "label"), _unused_name(df, "quad")
    others = [name for name in df.columns if name != "quads"]
    # The label is computed once per message, before the quads become rows.
    labelled = df.select(
        *map(_named, others),
        "quads",
        F.concat(F.lit("m"), F.md5(identity.cast("binary")), F.lit("_")).alias(label),
    )
    explode = F.posexplode_outer if keep_empty else F.posexplode
    exploded = labelled.select(*map(_named, others), label, explode("quads").alias(_INDEX, quad))
    terms = [_relabelled(F.col(quad)[part], F.col(label)).alias(part) for part in PARTS]
    return exploded.select(*map(_named, others), _INDEX, *terms)


def messages(df: DataFrame, by: str | Sequence[str] | None = None) -> DataFrame:
    """Group quads into one row per message: the columns of `by`, and `quads` of rdfm's schema.

    This requires a shuffle. The quads are in the order of the column `quad_index`; without it,
    their order is undefined. A row without a subject is not a quad but an empty message, as written
    by `explode_quads`. If there is no column `graph`, quads are in the default graph.

    Args:
        df: Quads, with columns `subject`, `predicate`, `object` and optionally `graph`.
        by: Columns that identify a message. Defaults to `source`, `message_index` and
            `byte_offset`, or `source` and one of them.

    Raises:
        OptionError: If a column is missing. The query fails if a message has neither a byte offset
            nor an index.
    """
    _require(df, PARTS[:3], "messages")
    names = _identity(df, by, "messages")
    keys = [_named(name) for name in names]
    if by is None:
        source = _checked(keys[0], names, F.col("subject").isNotNull())
        keys[0] = source.alias("source")
    terms = [
        (F.col(part) if part in df.columns else F.lit(None).cast("string")).alias(part)
        for part in PARTS
    ]
    quad = F.struct(*terms).alias("quad")
    indexed = F.struct(F.col(_INDEX), quad) if _INDEX in df.columns else F.struct(quad)
    # collect_list ignores nulls.
    collected = F.collect_list(F.when(F.col("subject").isNotNull(), indexed))
    ordered = F.array_sort(collected) if _INDEX in df.columns else collected
    return df.groupBy(*keys).agg(ordered["quad"].cast(QUADS).alias("quads"))


def _column(col: Term) -> Column:
    return F.col(col) if isinstance(col, str) else col


def _named(name: str) -> Column:
    """The column with exactly this name, which may contain dots."""
    return F.col("`" + name.replace("`", "``") + "`")


def _is_iri(term: Column) -> Column:
    return term.startswith("<") & ~term.startswith("<<") & term.endswith(">")


def _is_literal(term: Column) -> Column:
    return term.startswith('"') & (F.locate('"', term, 2) > 0)


def _inside(term: Column) -> Column:
    """The string between the angle brackets of an IRI."""
    return F.substring(term, 2, F.length(term) - 2)


def _rest(term: Column) -> Column:
    """The string after the last quotation mark, which tags and IRIs do not contain."""
    return F.substring_index(term, '"', -1)


def _suffix(term: Column) -> Column:
    """The tag or datatype of a literal, empty if it has none; null for other terms."""
    return F.when(_is_literal(term), F.ltrim(_rest(term), F.lit(" \t")))


def _unescaped(text: Column, term: Column) -> Column:
    """The text of a term with its escapes resolved; null if it contains an invalid escape."""
    # After `\\` is replaced, every remaining backslash begins an escape.
    simple = F.replace(text, F.lit("\\\\"), F.lit("\\u005C"))
    for letter, character in ESCAPES.items():
        simple = F.replace(simple, F.lit("\\" + letter), F.lit(character))
    numbered = F.when(
        ~simple.rlike(NO_ESCAPE),
        F.array_join(F.transform(F.split(simple, r"\\"), _with_character), ""),
    )
    return F.when(
        term.contains("\\"), F.when(simple.contains("\\"), numbered).otherwise(simple)
    ).otherwise(text)


def _with_character(piece: Column, index: Column) -> Column:
    """The string after a backslash, with its leading `uXXXX` or `UXXXXXXXX` resolved."""

    def character(digits: Column) -> Column:
        # A byte order mark comes first, so that the character itself is not treated as one.
        return F.decode(F.unhex(F.concat(F.lit("0000FEFF"), digits)), "UTF-32")

    short = F.concat(
        character(F.concat(F.lit("0000"), F.substring(piece, 2, 4))), F.substr(piece, F.lit(6))
    )
    long = F.concat(character(F.substring(piece, 2, 8)), F.substr(piece, F.lit(10)))
    return F.when(index == 0, piece).when(piece.startswith("u"), short).otherwise(long)


def _relabelled(term: Column, label: Column) -> Column:
    """The term with `label` as a prefix of its blank node labels.

    A triple term is matched token by token, so that strings and IRIs do not change. First,
    escaped backslashes and quotation marks are replaced by escapes that N-Triples does not have.
    The label is appended so that the pattern can copy it.
    """
    masked = F.replace(F.replace(term, F.lit("\\\\"), F.lit("\\1")), F.lit('\\"'), F.lit("\\2"))
    replaced = F.regexp_replace(
        F.concat(masked, label), r'(?s)"[^"]*+"|<[^<>"\s]*+>|_:(?=.*>>(m[0-9a-f]{32}_)$)', "$0$1"
    )
    result = F.substring(replaced, 1, F.length(replaced) - F.length(label))
    shown = F.replace(F.replace(result, F.lit("\\2"), F.lit('\\"')), F.lit("\\1"), F.lit("\\\\"))
    return (
        F.when(term.startswith("_:"), F.concat(F.lit("_:"), label, F.substr(term, F.lit(3))))
        .when(term.startswith("<<") & term.contains("_:"), shown)
        .otherwise(term)
    )


def _identity(df: DataFrame, by: str | Sequence[str] | None, caller: str) -> Sequence[str]:
    """The names of the columns that identify a message."""
    if by is None:
        known = [name for name in _IDENTITY if name in df.columns]
        if "source" in known and len(known) > 1:
            return known
        raise OptionError(
            f"{caller} needs columns that identify a message, but neither source and byte_offset nor source and "
            f"message_index are among {', '.join(df.columns)}; name other columns with by=[…]"
        )
    names = (by,) if isinstance(by, str) else tuple(by)
    _require(df, names, caller)
    return names


def _checked(identity: Column, keys: Sequence[str], present: Column) -> Column:
    """The identity of a message. The query fails if the message is present but has no identity."""
    number = F.coalesce(*(F.col(name) for name in keys if name != "source"))
    return F.when(number.isNull() & present, F.raise_error(_NO_IDENTITY)).otherwise(identity)


def _canonical(value: Column, type: DataType) -> Column:
    """A form of a value whose JSON differs for different values, regardless of the settings."""
    if isinstance(type, StringType):
        return value.cast("binary")  # also correct for invalid UTF-8
    if isinstance(type, TimestampType):
        return F.unix_micros(value)
    if isinstance(type, (TimestampNTZType, DateType)):
        return value.cast("string")
    if isinstance(type, ArrayType):
        return F.transform(value, lambda item: _canonical(item, type.elementType))
    if isinstance(type, MapType):
        pairs = StructType().add("key", type.keyType).add("value", type.valueType)
        return _canonical(F.map_entries(value), ArrayType(pairs))
    if isinstance(type, StructType):
        fields = [_canonical(value[field.name], field.dataType).alias(field.name) for field in type]
        return F.when(value.isNotNull(), F.struct(*fields))
    return value


def _unused_name(df: DataFrame, name: str) -> str:
    """A column name that is not in use."""
    used = {column.lower() for column in df.columns}
    while name in used:
        name += "_"
    return name


def _require(df: DataFrame, names: Sequence[str], caller: str) -> None:
    missing = [name for name in names if name not in df.columns]
    if missing or not names:
        needed = f"the column {missing[0]}" if missing else "at least one column in by"
        raise OptionError(f"{caller} needs {needed}; the columns are {', '.join(df.columns)}")
