"""What a term says, and quads as rows: Spark's own expressions, without Python workers.

In: columns of N-Triples terms, as in `quads`; data frames of messages or of quads.
Out: columns, or data frames, on Spark Connect too.
Cost: that of Spark's string functions; a text is looked through once more where it has a backslash.
Law: no term is an error, whatever the session's settings; null gives null, and so does what does not
apply. Text that is no N-Triples term gives null or what its beginning says.
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

_ESCAPES = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f", '"': '"', "'": "'"}
# A backslash that does not begin the escape of a character: no surrogate, at most U+10FFFF.
_NO_ESCAPE = (
    r"\\(?!u(?![Dd][89A-Fa-f])[0-9A-Fa-f]{4}"
    r"|U(?!0000[Dd][89A-Fa-f])(?:000[0-9A-Fa-f]|0010)[0-9A-Fa-f]{4})"
)

# Columns that tell a message from all others, the cheapest first.
_IDENTITIES = (("source", "position"), ("source", "offset"))
_INDEX = "quad_index"


def _named_as_called(function: Helper) -> Helper:
    """Call the result as Spark calls those of its own functions: `iri(subject)`."""

    @wraps(function)
    def named(col: Term) -> Column:
        column = _column(col)
        text = re.fullmatch("Column<'(.*)'>", str(column), re.DOTALL)
        return function(column).alias(f"{function.__name__}({text[1] if text else column})")

    return cast("Helper", named)


@_named_as_called
def term_kind(col: Term) -> Column:
    """Give `iri`, `bnode`, `literal` or `triple term`; null for null, which is the default graph.

    Args:
        col: Terms: a column or its name.
    """
    term = _column(col)
    return (
        F.when(term.startswith('"'), "literal")
        .when(term.startswith("<<"), "triple term")
        .when(term.startswith("<"), "iri")
        .when(term.startswith("_:"), "bnode")
    )


@_named_as_called
def is_blank(col: Term) -> Column:
    """Tell whether a term is a blank node; null for null.

    Args:
        col: Terms: a column or its name.
    """
    return _column(col).startswith("_:")


@_named_as_called
def iri(col: Term) -> Column:
    """Give an IRI without its brackets; null for other terms.

    Args:
        col: Terms: a column or its name.
    """
    term = _column(col)
    return F.when(_is_iri(term), _unescaped(_inside(term), term))


@_named_as_called
def value(col: Term) -> Column:
    """Give the text of a term, as `value` of rdfm's terms does.

    That is an IRI without its brackets, the label of a blank node as it stands behind `_:`, the lexical form of a
    literal, and a triple term as it is written.

    Args:
        col: Terms: a column or its name.
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


@_named_as_called
def language(col: Term) -> Column:
    """Give the language tag of a literal, in the case it is written in; null for other terms.

    Args:
        col: Terms: a column or its name.
    """
    suffix = _suffix(_column(col))
    return F.when(suffix.startswith("@"), F.substring_index(F.substr(suffix, F.lit(2)), "--", 1))


@_named_as_called
def direction(col: Term) -> Column:
    """Give the base direction of a literal, `ltr` or `rtl`; null for other terms.

    Args:
        col: Terms: a column or its name.
    """
    suffix = _suffix(_column(col))
    return F.when(
        suffix.startswith("@"),
        F.when(suffix.endswith("--ltr"), "ltr").when(suffix.endswith("--rtl"), "rtl"),
    )


@_named_as_called
def datatype(col: Term) -> Column:
    """Give the IRI of a literal's datatype, the implied ones included; null for other terms.

    Implied are `xsd:string`, `rdf:langString` and `rdf:dirLangString`.

    Args:
        col: Terms: a column or its name.
    """
    term = _column(col)
    rest = _rest(term)
    # An IRI holds no `<`.
    written = F.substring_index(term, "<", -1)
    named = F.substring(written, 1, F.length(written) - 1)
    return F.when(
        _is_literal(term),
        F.when(term.endswith('"'), _XSD_STRING)
        .when(term.endswith(">") & rest.contains("^^"), _unescaped(named, term))
        .when(rest.contains("--"), _DIR_LANG_STRING)
        .when(rest.contains("@"), _LANG_STRING),
    )


def explode_quads(
    df: DataFrame, by: str | Sequence[str] | None = None, *, keep_empty: bool = False
) -> DataFrame:
    """Give one row a quad: `quad_index`, its four terms, and the other columns of the message.

    Blank nodes get labels that no other message has, triple terms included, so that they never join
    by accident: `_:b` becomes `_:m<md5 of what identifies the message>_b`. The same message gives the
    same labels on every run.

    Args:
        df: Messages: a column `quads` of rdfm's schema.
        by: Columns that tell a message from all others, such as `topic`, `partition` and `offset` of
            Kafka. Left out: `source` and `position`, or `source` and `offset`.
        keep_empty: Keep a message without quads, or with null for them, as one row without terms;
            otherwise it has no row.

    Raises:
        OptionError: A column is missing, or has the name of one that is made here.
    """
    _require(df, ["quads"], "explode_quads")
    if "struct<kind" in df.schema["quads"].dataType.simpleString():
        raise OptionError(
            "explode_quads takes quads with terms as N-Triples; rows=quads reads quads with terms as structs"
        )
    for name in (_INDEX, *PARTS):
        if name in df.columns:
            raise OptionError(
                f"explode_quads makes a column {name}: rename or drop the one there is"
            )
    keys = _identity(df, by, "explode_quads")
    values = [_settled(_named(name), df.schema[name].dataType).alias(name) for name in keys]
    identity = F.to_json(F.struct(*values), {"ignoreNullFields": "true"})
    label, quad = _free(df, "label"), _free(df, "quad")
    others = [name for name in df.columns if name != "quads"]
    # Once a message, before its quads become rows.
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
    """Group quads into one row a message: the columns of `by`, and `quads` of rdfm's schema.

    Spark shuffles. The quads stand in the order of the column `quad_index`; without one their order
    is left to Spark. A row without a subject is no quad: it stands for an empty message, as
    `explode_quads` writes it. A missing column `graph` is the default graph.

    Args:
        df: Quads: columns `subject`, `predicate`, `object` and, if there are graphs, `graph`.
        by: Columns whose values tell messages apart. Left out: `source` and `position`, or `source`
            and `offset`.

    Raises:
        OptionError: A column is missing.
    """
    _require(df, PARTS[:3], "messages")
    keys = map(_named, _identity(df, by, "messages"))
    terms = [
        (F.col(part) if part in df.columns else F.lit(None).cast("string")).alias(part)
        for part in PARTS
    ]
    quad = F.struct(*terms).alias("quad")
    indexed = F.struct(F.col(_INDEX), quad) if _INDEX in df.columns else F.struct(quad)
    # Nulls are not collected.
    collected = F.collect_list(F.when(F.col("subject").isNotNull(), indexed))
    ordered = F.array_sort(collected) if _INDEX in df.columns else collected
    return df.groupBy(*keys).agg(ordered["quad"].cast(QUADS).alias("quads"))


def _column(col: Term) -> Column:
    return F.col(col) if isinstance(col, str) else col


def _named(name: str) -> Column:
    """A column of that very name, which may hold dots."""
    return F.col("`" + name.replace("`", "``") + "`")


def _is_iri(term: Column) -> Column:
    return term.startswith("<") & ~term.startswith("<<") & term.endswith(">")


def _is_literal(term: Column) -> Column:
    return term.startswith('"') & (F.locate('"', term, 2) > 0)


def _inside(term: Column) -> Column:
    """What stands between the brackets of an IRI."""
    return F.substring(term, 2, F.length(term) - 2)


def _rest(term: Column) -> Column:
    """What follows the last quotation mark: neither tags nor IRIs hold one."""
    return F.substring_index(term, '"', -1)


def _suffix(term: Column) -> Column:
    """The tag or datatype of a literal, empty where it has none; null for other terms."""
    return F.when(_is_literal(term), F.ltrim(_rest(term), F.lit(" \t")))


def _unescaped(text: Column, term: Column) -> Column:
    """A text of a term with its escapes resolved; null where a backslash begins none."""
    # Without `\\`, every backslash that is left begins an escape.
    simple = F.replace(text, F.lit("\\\\"), F.lit("\\u005C"))
    for letter, character in _ESCAPES.items():
        simple = F.replace(simple, F.lit("\\" + letter), F.lit(character))
    numbered = F.when(
        ~simple.rlike(_NO_ESCAPE),
        F.array_join(F.transform(F.split(simple, r"\\"), _with_character), ""),
    )
    return F.when(
        term.contains("\\"), F.when(simple.contains("\\"), numbered).otherwise(simple)
    ).otherwise(text)


def _with_character(piece: Column, index: Column) -> Column:
    """The text after a backslash, its leading `uXXXX` or `UXXXXXXXX` resolved."""

    def character(digits: Column) -> Column:
        # A byte order mark first, so that the character is not taken for one.
        return F.decode(F.unhex(F.concat(F.lit("0000FEFF"), digits)), "UTF-32")

    short = F.concat(
        character(F.concat(F.lit("0000"), F.substring(piece, 2, 4))), F.substr(piece, F.lit(6))
    )
    long = F.concat(character(F.substring(piece, 2, 8)), F.substr(piece, F.lit(10)))
    return F.when(index == 0, piece).when(piece.startswith("u"), short).otherwise(long)


def _relabelled(term: Column, label: Column) -> Column:
    """The term with `label` before the labels of its blank nodes.

    A triple term is read token by token, so that nothing changes inside strings and IRIs: escaped
    backslashes and quotation marks are hidden behind escapes that N-Triples lacks, and the label is
    appended for the pattern to copy.
    """
    hidden = F.replace(F.replace(term, F.lit("\\\\"), F.lit("\\1")), F.lit('\\"'), F.lit("\\2"))
    replaced = F.regexp_replace(
        F.concat(hidden, label), r'(?s)"[^"]*+"|<[^<>"\s]*+>|_:(?=.*>>(m[0-9a-f]{32}_)$)', "$0$1"
    )
    kept = F.substring(replaced, 1, F.length(replaced) - F.length(label))
    shown = F.replace(F.replace(kept, F.lit("\\2"), F.lit('\\"')), F.lit("\\1"), F.lit("\\\\"))
    return (
        F.when(term.startswith("_:"), F.concat(F.lit("_:"), label, F.substr(term, F.lit(3))))
        .when(term.startswith("<<") & term.contains("_:"), shown)
        .otherwise(term)
    )


def _identity(df: DataFrame, by: str | Sequence[str] | None, caller: str) -> Sequence[str]:
    """The names of the columns that tell messages apart."""
    if by is None:
        for known in _IDENTITIES:
            if set(known) <= set(df.columns):
                return known
        raise OptionError(
            f"{caller} needs to know what tells messages apart: the columns source and position, or "
            f"source and offset, are not all among {', '.join(df.columns)}; name others with by=[…]"
        )
    names = (by,) if isinstance(by, str) else tuple(by)
    _require(df, names, caller)
    return names


def _settled(value: Column, type: DataType) -> Column:
    """A value that JSON tells from all others of its type, whatever the session's settings."""
    if isinstance(type, StringType):
        return value.cast("binary")  # UTF-8 that is not valid included
    if isinstance(type, TimestampType):
        return F.unix_micros(value)
    if isinstance(type, (TimestampNTZType, DateType)):
        return value.cast("string")
    if isinstance(type, ArrayType):
        return F.transform(value, lambda item: _settled(item, type.elementType))
    if isinstance(type, MapType):
        pairs = StructType().add("key", type.keyType).add("value", type.valueType)
        return _settled(F.map_entries(value), ArrayType(pairs))
    if isinstance(type, StructType):
        fields = [_settled(value[field.name], field.dataType).alias(field.name) for field in type]
        return F.when(value.isNotNull(), F.struct(*fields))
    return value


def _free(df: DataFrame, name: str) -> str:
    """A name that no column has."""
    taken = {column.lower() for column in df.columns}
    while name in taken:
        name += "_"
    return name


def _require(df: DataFrame, names: Sequence[str], caller: str) -> None:
    missing = [name for name in names if name not in df.columns]
    if missing or not names:
        raise OptionError(
            f"{caller} needs the column {missing[0] if missing else 'names of by'}, and there are: "
            f"{', '.join(df.columns)}"
        )
