"""JSON-LD inputs that are expensive for their size and can be generated at any size.

- In: a size in bytes.
- Out: a message of at most that size in JSON, or in YAML if it needs YAML features. Some cases are
  logs of several messages.
- Used by: `growth.py`, which measures the time for twice the bytes, and the memory tests.
- Law: each case repeats its element as often as the size allows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import count
from typing import Any

JSON_FORMATS = ("ndjsonld", "jsonld", "yamlld")
LOG_FORMATS = ("ndjsonld", "yamlld")


@dataclass(frozen=True)
class Hostile:
    """A hostile input that can have any size.

    Attributes:
        name: Description of the repeated element.
        make: Returns an input of at most the given number of bytes, or the messages of a log.
        formats: The formats in which the input exists.
        options: Options of the decoder.
        remote: Returns the remote contexts, by URL, for an input of the given size.
        plain: Whether the input must be decoded without an error if its size is far below the
            limit.
    """

    name: str
    make: Callable[[int], bytes | list[bytes]]
    formats: tuple[str, ...] = JSON_FORMATS
    options: dict[str, Any] = field(default_factory=dict)
    remote: Callable[[int], dict[str, bytes]] | None = None
    plain: bool = False

    def text(self, size: int, format: str) -> bytes:
        """Returns the input as a log in a format."""
        data = self.make(size)
        if isinstance(data, bytes):
            return data
        return (b"\n---\n" if format == "yamlld" else b"\n").join(data) + b"\n"


CASES: list[Hostile] = []


def hostile(name: str, make: Callable[[int], bytes | list[bytes]], **fields: Any) -> None:
    """Adds a case. `make` takes a size and returns the input."""
    CASES.append(Hostile(name, make, **fields))


def case(name: str, **fields: Any) -> Callable[[Any], Any]:
    """Adds the function below it as a case."""

    def add(make: Callable[[int], bytes | list[bytes]]) -> Any:
        hostile(name, make, **fields)
        return make

    return add


def repeated(
    name: str,
    head: bytes,
    item: bytes | Callable[[int], bytes],
    tail: bytes,
    comma: bytes = b",",
    **fields: Any,
) -> None:
    """Adds a case that repeats an item between a head and a tail."""
    hostile(name, lambda size: filled(size, head, item, tail, comma), **fields)


def filled(
    size: int, head: bytes, item: bytes | Callable[[int], bytes], tail: bytes, comma: bytes = b","
) -> bytes:
    """Returns the head, as many items as fit (but at least one), and the tail."""
    room = size - len(head) - len(tail)
    if isinstance(item, bytes):
        times = max(1, (room + len(comma)) // (len(item) + len(comma)))
        return head + comma.join([item] * times) + tail
    items = [item(0)]
    room -= len(items[0])
    for next_item in map(item, count(1)):
        room -= len(next_item) + len(comma)
        if room < 0:
            break
        items.append(next_item)
    return head + comma.join(items) + tail


def joined(count: int, item: Callable[[int], bytes]) -> bytes:
    """Returns `count` items separated by commas."""
    return b",".join(map(item, range(count)))


def side(size: int, bytes_each: int, parts: int = 1) -> int:
    """Returns the side of the largest square of items such that `parts` squares fit the size."""
    return max(2, math.isqrt(size // (bytes_each * parts)))


LETTERS = [bytes([letter]) for letter in range(ord("a"), ord("z") + 1)]
NAMES = list(LETTERS)


def name(number: int) -> bytes:
    """A short name for a number."""
    while number >= len(NAMES):
        # One-letter names come first, then each previous name followed by each letter.
        length = len(NAMES)
        NAMES.extend(NAMES[at // 26 - 1] + LETTERS[at % 26] for at in range(length, 2 * length))
    return NAMES[number]


# --- keys ---


@case("keys with equal beginnings, middles and ends")
def similar_keys(size: int) -> bytes:
    def key(number: int) -> bytes:
        digits = b"%08d" % number
        return b'"http://e/%s-the-middle-is-here-%s-the-end":1' % (digits, digits)

    return b"{" + joined(size // len(key(0)), key) + b"}"


# --- nodes of the tape ---


repeated("objects below a key without an IRI", b'{"y":[', b'{"k":1}', b"]}", plain=True)
repeated("empty arrays", b'{"http://e/p":[', b"[]", b"]}", plain=True)
repeated("empty objects", b'{"http://e/p":[', b"{}", b"]}")
repeated("short keys without an IRI", b"{", lambda at: b'"%s":1' % name(at), b"}", plain=True)
repeated(
    "short keys of a vocabulary",
    b'{"@context":{"@vocab":"v:"},',
    lambda at: b'"%s":1' % name(at),
    b"}",
    plain=True,
)
repeated("nulls", b'{"http://e/p":[', b"null", b"]}", plain=True)
repeated("one-digit numbers", b'{"http://e/p":[', b"1", b"]}")
repeated("white space", b'{"http://e/p":[1', b" " * 64, b"]}", b"", plain=True)
repeated("a key of the full size", b'{"http://e/', b"k" * 64, b'":1}', b"")
repeated("a key without an IRI, of the full size", b'{"k', b"k" * 64, b'":1}', b"")
repeated(
    "an invalid IRI of the full size", b'{"@id":"http://e/ ', b"k" * 64, b'","http://e/p":1}', b""
)
repeated(
    "a keyword's value of the wrong kind, of the full size", b'{"@id":["', b"k" * 64, b'"]}', b""
)
repeated("duplicate keys", b"{", b'"http://e/p":1', b"}", options={"lenient": True})
repeated("escapes in strings", b'{"http://e/p":[', b'"\\u0041\\n\\u00e9"', b"]}", plain=True)
repeated(
    "escapes in keys",
    b'{"http://e/p":[',
    lambda at: b'{"http://e/\\u0041%d":1}' % (at % 1000),
    b"]}",
)
repeated(
    "surrogate pairs in one string", b'{"http://e/p":"', b"\\ud83d\\ude00", b'"}', b"", plain=True
)


# --- depth ---


def nested(
    size: int, head: bytes, opening: bytes, inner: bytes, closing: bytes, tail: bytes
) -> bytes:
    """Returns a structure that is as deep as the size allows."""
    depth = max(1, (size - len(head) - len(inner) - len(tail)) // (len(opening) + len(closing)))
    return head + opening * depth + inner + closing * depth + tail


DEEP = {
    "arrays": (b'{"http://e/p":', b"[", b"1", b"]", b"}"),
    "objects": (b"", b'{"http://e/p":', b"1", b"}", b""),
    "objects below a key without an IRI": (b'{"k":', b'{"a":', b"1", b"}", b"}"),
    "lists": (b'{"http://e/p":', b'{"@list":[', b"1", b"]}", b"}"),
    "graphs": (b"", b'{"@id":"http://e/g","@graph":[', b'{"http://e/p":1}', b"]}", b""),
    "nest": (b"", b'{"@nest":', b'{"http://e/p":1}', b"}", b""),
    "included": (b"", b'{"@id":"http://e/s","@included":', b'{"http://e/p":1}', b"}", b""),
    "reverse": (b"", b'{"@reverse":{"http://e/p":', b'{"http://e/p":1}', b"}}", b""),
    "contexts": (b'{"@context":', b"[", b"{}", b"]", b"}"),
    "scoped contexts": (
        b'{"@context":',
        b'{"t":{"@id":"http://e/t","@context":',
        b"{}",
        b"}}",
        b"}",
    ),
    "JSON literals": (
        b'{"http://e/p":{"@type":"@json","@value":',
        b"[",
        b"1",
        b"]",
        b"}}",
    ),
    "nodes with contexts": (
        b"",
        b'{"@context":{"t":"http://e/t"},"http://e/p":',
        b"1",
        b"}",
        b"",
    ),
}
for _kind, _parts in DEEP.items():
    hostile(f"deep {_kind}", lambda size, parts=_parts: nested(size, *parts))
    # The largest value of `max_depth`.
    hostile(
        f"deep {_kind}, at the largest allowed depth",
        lambda size, parts=_parts: nested(size, *parts),
        options={"max_depth": 100},
    )
repeated(
    "many trees of depth 20",
    b'{"@graph":[',
    b'{"http://e/p":' * 20 + b"1" + b"}" * 20,
    b"]}",
    plain=True,
)
repeated(
    "trees of the largest allowed depth",
    b'{"@graph":[',
    b'{"http://e/p":' * 90 + b"1" + b"}" * 90,
    b"]}",
    options={"max_depth": 100},
)


@case("contexts that copy many terms, at every depth")
def copied_terms(size: int) -> bytes:
    depth = 50
    head = b'{"@context":{%s},"http://e/p":'
    terms = max(1, size // (depth * 24))
    levels = [
        head % joined(terms, lambda at, level=level: b'"t%dx%d":"v:%d"' % (level, at, at))
        for level in range(depth)
    ]
    return b"".join(levels) + b"1" + b"}" * depth


# --- contexts ---


def terms(count: int, prefix: bytes = b"t") -> bytes:
    """Definitions of the given number of terms."""
    return joined(count, lambda at: b'"%s%d":"http://e/%d"' % (prefix, at, at))


repeated(
    "nodes, each with its own context",
    b'{"@graph":[',
    lambda at: b'{"@context":{"t%d":"http://e/%d"},"t%d":1}' % (at, at, at),
    b"]}",
)
repeated(
    "nodes, all with the same context",
    b'{"@graph":[',
    b'{"@context":{"t":"http://e/t"},"t":1}',
    b"]}",
)


@case("nodes, each with a context, below a context of many terms")
def nodes_below_context(size: int) -> bytes:
    count = max(1, size // 50)
    return filled(
        size,
        b'{"@context":{%s},"@graph":[' % terms(count),
        lambda at: b'{"@context":{"u%d":"v:%d"},"t1":1}' % (at, at),
        b"]}",
    )


hostile(
    "messages, each with its own context",
    lambda size: [
        b'{"@context":{"t%d":"http://e/%d"},"t%d":1}' % (at, at, at) for at in range(4 * size // 45)
    ],
    formats=LOG_FORMATS,
)


@case("messages, each with its own large context", formats=LOG_FORMATS)
def messages_with_large_contexts(size: int) -> list[bytes]:
    count = size // 8 // 22
    return [b'{"@context":{"u%d":"v:%d",%s},"t0":1}' % (at, at, terms(count)) for at in range(32)]


@case("context messages, each before a message", formats=LOG_FORMATS)
def context_messages(size: int) -> list[bytes]:
    lines: list[bytes] = []
    for at in range(4 * size // 60):
        lines += [b'{"@context":{"t%d":"http://e/%d"}}' % (at, at), b'{"t%d":1}' % at]
    return lines


@case("messages, each with a context, below a context of many terms", formats=LOG_FORMATS)
def messages_below_context(size: int) -> list[bytes]:
    count = max(1, size // 50)
    below = [
        b'{"@context":{"u%d":"v:%d"},"t1":1}' % (at, at) for at in range(max(1, size // 2 // 36))
    ]
    return [b'{"@context":{%s}}' % terms(count), *below]


@case("messages below a large context with scoped contexts", formats=LOG_FORMATS)
def messages_below_scoped_contexts(size: int) -> list[bytes]:
    count = max(1, size // 2 // 80)
    scoped = joined(
        count, lambda at: b'"T%d":{"@id":"v:T%d","@context":{"t%d":"v:t"}}' % (at, at, at)
    )
    below = [
        b'{"@type":"T%d","t%d":1}' % (at % count, at % count)
        for at in range(max(1, size // 2 // 26))
    ]
    return [b'{"@context":{%s}}' % scoped, *below]


repeated(
    "an array of contexts",
    b'{"@context":[',
    lambda at: b'{"t%d":"http://e/%d"}' % (at, at),
    b'],"t0":1}',
)
repeated(
    "an array of nulls as contexts", b'{"@context":[', b"null", b'],"http://e/p":1}', plain=True
)


@case("contexts that remove and redefine many terms")
def removed_terms(size: int) -> bytes:
    half = b"{%s}" % terms(max(1, size // 8 // 22))
    return filled(size, b'{"@context":[', half + b",null", b'],"t0":1}')


@case("protected terms that are redefined")
def redefined_protected_terms(size: int) -> bytes:
    definitions = b'{"@protected":true,%s}' % terms(max(1, size // 64 // 22))
    return filled(size, b'{"@context":[', definitions, b'],"t0":1}')


@case("nested contexts that are not propagated")
def contexts_not_propagated(size: int) -> bytes:
    depth = 50
    count = max(1, size // (depth * 30))
    levels = [
        b'{"@context":{"@propagate":false,%s},"http://e/p":'
        % joined(count, lambda at, level=level: b'"t%dx%d":"v:%d"' % (level, at, at))
        for level in range(depth)
    ]
    return b"".join(levels) + b"1" + b"}" * depth


repeated(
    "terms with every entry of a definition",
    b'{"@context":{',
    lambda at: (
        b'"t%d":{"@id":"http://e/%d","@container":"@set","@language":"en","@direction":"ltr","@protected":true}'
        % (at, at)
    ),
    b'},"t0":"x"}',
    plain=True,
)


# --- IRIs that grow ---


repeated(
    "definitions that extend each other, in order",
    b'{"@context":{"t0":"http://e/",',
    lambda at: b'"t%d":"t%d:xxxxxxxx/"' % (at + 1, at),
    b'},"http://e/p":{"@id":"t0:y"}}',
)


@case("definitions that extend each other, in reverse order")
def reversed_chain(size: int) -> bytes:
    count = max(2, size // 30)
    chain = b",".join(b'"t%d":"t%d:xxxxxxxx/"' % (at, at - 1) for at in range(count, 0, -1))
    return b'{"@context":{%s,"t0":"http://e/"},"http://e/p":{"@id":"t%d:y"}}' % (chain, count)


@case("many chains of definitions, each within the allowed depth")
def many_chains(size: int) -> bytes:
    def chain(at: int) -> bytes:
        return joined(
            40, lambda step: b'"c%dt%d":"c%dt%d:%s/"' % (at, step + 1, at, step, b"x" * 200)
        )

    return filled(
        size,
        b'{"@context":{',
        lambda at: b'"c%dt0":"http://e/",%s' % (at, chain(at)),
        b'},"http://e/p":{"@id":"c0t40:y"}}',
    )


hostile(
    "terms that are compact IRIs of each other",
    lambda size: filled(
        size,
        b'{"@context":{"t":"http://e/%s/",' % (b"x" * (size // 4)),
        lambda at: b'"t:%s":{"@type":"@id"}' % name(at),
        b'},"t:a":"http://e/o"}',
    ),
)


@case("a definition that refers to itself through many others")
def cyclic_definition(size: int) -> bytes:
    count = max(2, size // 20)
    chain = joined(count, lambda at: b'"t%d":"t%d:x"' % (at, (at + 1) % count))
    return b'{"@context":{%s},"http://e/p":1}' % chain


hostile(
    "a long vocabulary and many keys",
    lambda size: filled(
        size,
        b'{"@context":{"@vocab":"http://e/%s/"},' % (b"v" * (size // 2)),
        lambda at: b'"%s":1' % name(at),
        b"}",
    ),
)
hostile(
    "a long vocabulary and many types",
    lambda size: filled(
        size,
        b'{"@context":{"@vocab":"http://e/%s/"},"@type":[' % (b"v" * (size // 2)),
        lambda at: b'"%s"' % name(at),
        b"]}",
    ),
)
hostile(
    "a long vocabulary and many terms",
    lambda size: filled(
        size,
        b'{"@context":{"@vocab":"http://e/%s/",' % (b"v" * (size // 2)),
        lambda at: b'"%s":{"@type":"@id"}' % name(at),
        b'},"a":"http://e/o"}',
    ),
)


@case("a long vocabulary that grows")
def growing_vocabulary(size: int) -> bytes:
    context = b'{"@vocab":"%s/"}' % (b"v" * 1000)
    return filled(size, b'{"@context":[{"@vocab":"http://e/"},', context, b'],"a":1}')


hostile(
    "a long prefix and many values",
    lambda size: filled(
        size,
        b'{"@context":{"p":"http://e/%s/"},"http://e/p":[' % (b"v" * (size // 2)),
        lambda at: b'{"@id":"p:%s"}' % name(at),
        b"]}",
    ),
)
hostile(
    "a long prefix and one repeated value",
    lambda size: filled(
        size,
        b'{"@context":{"p":"http://e/%s/"},"http://e/p":[' % (b"v" * (size // 2)),
        b'{"@id":"p:x"}',
        b"]}",
    ),
)
hostile(
    "a long base and many values",
    lambda size: filled(
        size,
        b'{"@context":{"@base":"http://e/%s/"},"http://e/p":[' % (b"v" * (size // 2)),
        lambda at: b'{"@id":"%s"}' % name(at),
        b"]}",
    ),
)


@case("a base that grows")
def growing_base(size: int) -> bytes:
    context = b'{"@base":"%s/"}' % (b"v" * 1000)
    return filled(
        size, b'{"@context":[{"@base":"http://e/"},', context, b'],"@id":"a","http://e/p":1}'
    )


hostile(
    "a long language and many strings",
    lambda size: filled(
        size,
        b'{"@context":{"@language":"en%s"},"http://e/p":[' % (b"-abcdefgh" * (size // 18)),
        b'"a"',
        b"]}",
    ),
)


@case(
    "a long language and many strings with directions",
    options={"rdf_direction": "i18n-datatype"},
)
def long_language_with_directions(size: int) -> bytes:
    language = b"en%s" % (b"-abcdefgh" * (size // 18))
    head = b'{"@context":{"@language":"%s","@direction":"ltr"},"http://e/p":[' % language
    return filled(size, head, b'"a"', b"]}")


repeated(
    "strings with directions as nodes",
    b'{"@context":{"@language":"en","@direction":"ltr"},"http://e/p":[',
    b'"a"',
    b"]}",
    options={"rdf_direction": "compound-literal"},
)


@case("a long datatype and many numbers")
def long_datatype(size: int) -> bytes:
    head = b'{"@context":{"p":{"@id":"http://e/p","@type":"http://e/%s"}},"p":['
    return filled(size, head % (b"d" * (size // 2)), b"1", b"]}")


hostile(
    "a long predicate and many values",
    lambda size: filled(size, b'{"http://e/%s":[' % (b"p" * (size // 2)), b"1", b"]}"),
)
hostile(
    "a long subject and many keys",
    lambda size: filled(
        size,
        b'{"@context":{"@vocab":"v:"},"@id":"http://e/%s",' % (b"p" * (size // 2)),
        lambda at: b'"%s":1' % name(at),
        b"}",
    ),
)
hostile(
    "a long property-valued index and many entries",
    lambda size: filled(
        size,
        b'{"@context":{"i":"http://e/%s","p":{"@id":"http://e/p","@container":"@index","@index":"i"}},"p":{'
        % (b"i" * (size // 2)),
        lambda at: b'"%s":{}' % name(at),
        b"}}",
    ),
)


# --- scoped contexts ---


def typed(count: int, width: int) -> bytes:
    """Definitions of types, each with a context of the given number of terms."""
    return joined(
        count,
        lambda at: (
            b'"T%d":{"@id":"v:T%d","@context":{%s}}'
            % (at, at, joined(width, lambda term: b'"t%d":"v:%dx%d"' % (term, at, term)))
        ),
    )


def scoped_properties(count: int, width: int) -> bytes:
    """Definitions of properties, each with a context of the given number of terms."""
    return joined(
        count,
        lambda at: (
            b'"p%d":{"@id":"v:p%d","@context":{%s}}'
            % (at, at, joined(width, lambda term: b'"t%dx%d":"v:%d"' % (at, term, term)))
        ),
    )


@case("one node with many types, each with a context")
def many_types(size: int) -> bytes:
    count = max(2, size // 68)
    return b'{"@context":{%s},"@type":[%s],"t0":1}' % (
        typed(count, 1),
        joined(count, lambda at: b'"T%d"' % at),
    )


@case("nodes with many types, each with a context, in other orders")
def types_in_other_orders(size: int) -> bytes:
    count = 40
    head = b'{"@context":{%s},"@graph":[' % typed(count, 2)
    return filled(
        size,
        head,
        lambda at: (
            b'{"@type":[%s],"t0":1}'
            % joined(8, lambda step: b'"T%d"' % ((at // 5**step + step * 7) % count))
        ),
        b"]}",
    )


@case("properties with contexts of many terms, nested in turn")
def nested_property_contexts(size: int) -> bytes:
    width = side(size, 18, 2)
    head = b'{"@context":{%s},"@graph":[' % scoped_properties(width, width)
    return filled(
        size,
        head,
        lambda at: b'{"p%d":{"p%d":{"t%dx0":1}}}' % (at // width % width, at % width, at % width),
        b"]}",
    )


@case("types with contexts of many terms, two at a time")
def pairs_of_type_contexts(size: int) -> bytes:
    width = side(size, 16, 2)
    head = b'{"@context":{%s},"@graph":[' % typed(width, width)
    return filled(
        size,
        head,
        lambda at: b'{"@type":["T%d","T%d"],"t0":1}' % (at // width % width, at % width),
        b"]}",
    )


@case("a scoped context of many terms, below different parents")
def scoped_context_below_parents(size: int) -> bytes:
    width = max(2, size // 2 // 22)
    head = b'{"@context":{"p":{"@id":"v:p","@context":{%s}}},"@graph":[' % terms(width)
    return filled(
        size,
        head,
        lambda at: b'{"@context":{"u%d":"v:%d"},"p":{"t1":1}}' % (at, at),
        b"]}",
    )


@case("a scoped context of few terms, below different parents of many")
def small_scoped_context_below_parents(size: int) -> bytes:
    width = max(2, size // 2 // 22)
    head = b'{"@context":{%s,"p":{"@id":"v:p","@context":{"w":"v:w"}}},"@graph":[' % terms(width)
    return filled(
        size,
        head,
        lambda at: b'{"@context":{"u%d":"v:%d"},"p":{"w":1}}' % (at, at),
        b"]}",
    )


@case("scoped contexts that contain scoped contexts")
def nested_scoped_contexts(size: int) -> bytes:
    # Each level redefines everything that the next level needs.
    def level(depth: int) -> bytes:
        if not depth:
            return b"{}"
        return b'{"a":{"@id":"v:a","@context":%s},"b":{"@id":"v:b","@context":%s}}' % (
            level(depth - 1),
            level(depth - 1),
        )

    depth = max(1, int(math.log2(max(4, size // 80))) - 1)
    path = [b'{"%s":' % (b"a" if at % 2 else b"b") for at in range(depth)]
    return b'{"@context":%s,"@graph":[%s1%s]}' % (level(depth), b"".join(path), b"}" * depth)


@case("a property's context that clears all terms and imports them again")
def cleared_context(size: int) -> bytes:
    width = max(2, size // 2 // 22)
    head = b'{"@context":{"p":{"@id":"v:p","@context":[null,{%s}]}},"@graph":[' % terms(width)
    return filled(size, head, b'{"p":{"t1":1}}', b"]}")


@case("nest with a context of many terms")
def nest_context(size: int) -> bytes:
    width = max(2, size // 2 // 22)
    head = b'{"@context":{"n":{"@id":"@nest","@context":{%s}}},"@graph":[' % terms(width)
    return filled(size, head, b'{"n":{"t1":1}}', b"]}")


# --- remote contexts ---

URL = b"http://e/c/%d"


def url(number: int) -> str:
    return (URL % number).decode()


def doubled(size: int) -> dict[str, bytes]:
    """Contexts that each refer to the next one twice."""
    depth = 7 if size < 1 << 12 else 40
    found = {
        url(at): b'{"@context":["%s","%s",{"t%d":"v:%d"}]}'
        % (URL % (at + 1), URL % (at + 1), at, at)
        for at in range(depth)
    }
    found[url(depth)] = b'{"@context":{%s}}' % terms(10)
    return found


repeated(
    "remote contexts that include each other twice",
    b'{"@context":"http://e/c/0","@graph":[',
    b'{"t0":1}',
    b"]}",
    remote=doubled,
)


def many_references(size: int) -> dict[str, bytes]:
    """Contexts that each refer to the next one many times."""
    depth, times = 5, max(2, size // 64)
    found = {
        url(at): b'{"@context":[%s]}' % joined(times, lambda _, at=at: b'"%s"' % (URL % (at + 1)))
        for at in range(depth)
    }
    found[url(depth)] = b'{"@context":{%s}}' % terms(10)
    return found


repeated(
    "remote contexts that include the next one very often",
    b'{"@context":"http://e/c/0","@graph":[',
    b'{"t0":1}',
    b"]}",
    remote=many_references,
)


def one_large(size: int) -> dict[str, bytes]:
    return {url(0): b'{"@context":{%s}}' % terms(max(1, size // 2 // 22))}


repeated(
    "a remote context of many terms, named repeatedly",
    b'{"@context":[',
    b'"http://e/c/0"',
    b'],"t0":1}',
    remote=one_large,
)
repeated(
    "nodes that name a remote context of many terms",
    b'{"@graph":[',
    b'{"@context":"http://e/c/0","t0":1}',
    b"]}",
    remote=one_large,
)
repeated(
    "nodes that import a remote context of many terms and add one",
    b'{"@graph":[',
    lambda at: b'{"@context":{"@import":"http://e/c/0","u%d":"v:%d"},"t0":1}' % (at, at),
    b"]}",
    remote=one_large,
)


def cycle(size: int) -> dict[str, bytes]:
    """A context whose terms have that same context as their scoped context."""
    count = max(1, size // 2 // 50)
    scoped = joined(count, lambda at: b'"p%d":{"@id":"v:p%d","@context":"http://e/c/0"}' % (at, at))
    return {url(0): b'{"@context":{%s}}' % scoped}


repeated(
    "a remote context whose terms have it as their scoped context",
    b'{"@context":"http://e/c/0","@graph":[',
    b'{"p0":{"p0":{"p0":{"p0":{"p0":1}}}}}',
    b"]}",
    remote=cycle,
)


def star(size: int) -> dict[str, bytes]:
    """Contexts in which each term has another of these contexts as its scoped context."""
    count = side(size, 60)
    scoped = joined(count, lambda at: b'"p%d":{"@id":"v:p%d","@context":"%s"}' % (at, at, URL % at))
    return {url(at): b'{"@context":{"q%d":"v:q",%s}}' % (at, scoped) for at in range(count)}


@case("remote contexts whose terms are scoped by each other", remote=star)
def mutually_scoped_contexts(size: int) -> bytes:
    count = side(size, 60)
    return filled(
        size,
        b'{"@context":"http://e/c/0","@graph":[',
        lambda at: b'{"p%d":{"p%d":{"p%d":1}}}' % (at % count, at // count % count, at * 7 % count),
        b"]}",
    )


def many_remote(size: int) -> dict[str, bytes]:
    """Contexts that together have half of the given size."""
    count = min(1000, max(1, size // 80))
    width = max(1, size // 2 // count // 16)
    return {url(at): b'{"@context":{%s}}' % terms(width, b"t%dx" % at) for at in range(count)}


@case("many remote contexts", remote=many_remote, formats=("ndjsonld",))
def many_remote_contexts(size: int) -> bytes:
    count = min(1000, max(1, size // 80))
    return filled(
        size,
        b'{"@graph":[',
        lambda at: b'{"@context":"%s","t%dx0":1}' % (URL % (at % count), at % count),
        b"]}",
    )


# --- values ---


repeated(
    "blank nodes with labels", b'{"http://e/p":[', lambda at: b'{"@id":"_:%s"}' % name(at), b"]}"
)
repeated(
    "labels like generated ones",
    b'{"http://e/p":[',
    lambda at: b'{"@id":"_:_g%s%d"}' % (b"u" * (at % 50), at),
    b"]}",
)
repeated("a long list", b'{"http://e/p":{"@list":[', b"1", b"]}}")
repeated(
    "a list of empty lists",
    b'{"@context":{"p":{"@id":"http://e/p","@container":"@list"}},"p":[',
    b"[]",
    b"]}",
)
repeated("many lists with one item", b'{"http://e/p":[', b'{"@list":[1]}', b"]}")
repeated(
    "many empty graphs",
    b'{"@context":{"p":{"@id":"http://e/p","@container":"@graph"}},"p":[',
    b"{}",
    b"]}",
)
repeated(
    "numbers in a graph container",
    b'{"@context":{"p":{"@id":"http://e/p","@container":"@graph"}},"p":[',
    b"1",
    b"]}",
)
repeated("small integers with an exponent of 20", b'{"http://e/p":[', b"1e20", b"]}")
repeated("numbers outside the range of doubles", b'{"http://e/p":[', b"1e400", b"]}")


@case("numbers with huge exponents")
def huge_exponents(size: int) -> bytes:
    item = b"1e99999999999999999999,0e-99999999999999999999,1e-99999999999999999999"
    return filled(size, b'{"http://e/p":[', item, b"]}")


repeated("an integer of the full size", b'{"http://e/p":', b"1" * 64, b"}", b"", plain=True)
repeated("a fraction of the full size", b'{"http://e/p":0.', b"0" * 64, b"1}", b"", plain=True)
repeated(
    "numbers that are the same integer with many digits",
    b'{"http://e/p":[',
    b"1." + b"0" * 200,
    b"]}",
    plain=True,
)
repeated(
    "many JSON literals",
    b'{"@context":{"j":{"@id":"http://e/j","@type":"@json"}},"@graph":[',
    lambda at: b'{"j":{"b":%d,"a":[]}}' % (at % 10),
    b"]}",
)
repeated(
    "a JSON literal of numbers that grow",
    b'{"@context":{"j":{"@id":"http://e/j","@type":"@json"}},"j":[',
    b"1e20",
    b"]}",
)
repeated(
    "a JSON literal of one object with many keys",
    b'{"@context":{"j":{"@id":"http://e/j","@type":"@json"}},"j":{',
    lambda at: b'"%s":1' % name(at),
    b"}}",
    plain=True,
)
repeated(
    "a JSON literal of control characters",
    b'{"@context":{"j":{"@id":"http://e/j","@type":"@json"}},"j":"',
    b"\\u001f",
    b'"}',
    b"",
)
repeated(
    "a JSON literal of empty objects",
    b'{"@context":{"j":{"@id":"http://e/j","@type":"@json"}},"j":[',
    b"{}",
    b"]}",
    plain=True,
)
repeated(
    "a language map of many languages",
    b'{"@context":{"p":{"@id":"http://e/p","@container":"@language"}},"p":{',
    lambda at: b'"en-x-%s":"a"' % name(at)[:8],
    b"}}",
)
repeated(
    "a language map of many strings",
    b'{"@context":{"p":{"@id":"http://e/p","@container":"@language"}},"p":{"en":[',
    b'"a"',
    b"]}}",
)


for _container in (b"@index", b"@id", b"@type"):
    repeated(
        f"a map by {_container.decode()}",
        b'{"@context":{"@vocab":"v:","@base":"http://e/","p":{"@container":"%s"}},"p":{'
        % _container,
        lambda at: b'"%s":{}' % name(at),
        b"}}",
    )
repeated(
    "a map of graphs by @id",
    b'{"@context":{"@vocab":"v:","@base":"http://e/","p":{"@container":["@graph","@id"]}},"p":{',
    lambda at: b'"%s":{"a":1}' % name(at),
    b"}}",
)


@case("a map by @type whose types have contexts")
def map_by_type_with_contexts(size: int) -> bytes:
    width = max(2, size // 2 // 60)
    head = b'{"@context":{%s,"p":{"@id":"http://e/p","@container":"@type"}},"p":{' % typed(width, 1)
    return filled(
        size,
        head,
        lambda at: b'"T%d":[{"t0":1}]' % at if at < width else b'"x%s":[]' % name(at),
        b"}}",
    )


repeated(
    "types of one node", b'{"@type":[', lambda at: b'"http://e/%s"' % name(at), b"]}", plain=True
)
repeated("reverse properties", b'{"@id":"http://e/s","@reverse":{"http://e/p":[', b"{}", b"]}}")
repeated("included nodes", b'{"@included":[', b'{"@type":"v:T"}', b"]}")
repeated("an array of many @nest objects", b'{"@nest":[', b'{"http://e/p":1}', b"]}", plain=True)
repeated(
    "nodes, each with a key without an IRI",
    b'{"@graph":[',
    lambda at: b'{"k%d":{"a":1},"http://e/p":1}' % at,
    b"]}",
)


# --- YAML ---

YAML = {"formats": ("yamlld",)}


repeated(
    "aliases of aliases",
    b"http://e/p: &a0 [x, x, x, x, x, x, x, x, x]\n",
    lambda at: b"http://e/p%d: &a%d [%s]\n" % (at + 1, at + 1, b", ".join([b"*a%d" % at] * 9)),
    b"",
    b"",
    **YAML,
)
repeated(
    "aliases of aliases that are mappings",
    b"http://e/p: &a0 {http://e/q: x}\n",
    lambda at: (
        b"http://e/p%d: &a%d {%s}\n"
        % (at + 1, at + 1, b", ".join(b"http://e/%d: *a%d" % (i, at) for i in range(9)))
    ),
    b"",
    b"",
    **YAML,
)
repeated(
    "aliases of aliases below a key without an IRI",
    b"k: &a0 [x, x, x, x, x, x, x, x, x]\n",
    lambda at: b"k%d: &a%d [%s]\n" % (at + 1, at + 1, b", ".join([b"*a%d" % at] * 9)),
    b"",
    b"",
    **YAML,
)
repeated(
    "aliases of empty arrays of aliases",
    b"http://e/p: &a0 [[], []]\n",
    lambda at: b"http://e/p%d: &a%d [*a%d, *a%d]\n" % (at + 1, at + 1, at, at),
    b"",
    b"",
    **YAML,
)
hostile(
    "aliases of a long string",
    lambda size: filled(
        size, b'http://e/o: &a "%s"\nhttp://e/p:\n' % (b"x" * (size // 2)), b"- *a\n", b"", b""
    ),
    **YAML,
)
hostile(
    "aliases of a long string as keys",
    lambda size: filled(
        size,
        b'http://e/o: &a "http://e/%s"\nhttp://e/p:\n' % (b"x" * min(size // 2, 900)),
        b"- {*a : 1}\n",
        b"",
        b"",
    ),
    **YAML,
)
hostile(
    "aliases of a long string below a key without an IRI",
    lambda size: filled(size, b'o: &a "%s"\np:\n' % (b"x" * (size // 2)), b"- *a\n", b"", b""),
    **YAML,
)
hostile(
    "aliases of a context of many terms",
    lambda size: filled(
        size,
        b'"@context": &c {%s}\n"@graph":\n' % terms(max(1, size // 2 // 22)),
        b'- {"@context": *c, t0: 1}\n',
        b"",
        b"",
    ),
    **YAML,
)
hostile(
    "aliases of an array of many items",
    lambda size: filled(
        size,
        b"http://e/o: &a [%s]\nhttp://e/p:\n" % b", ".join([b"1"] * (size // 2 // 3)),
        b"- *a\n",
        b"",
        b"",
    ),
    **YAML,
)
repeated(
    "anchors without aliases", b"http://e/p:\n", lambda at: b"- &a%d 1\n" % at, b"", b"", **YAML
)


@case("nested anchors", **YAML)
def nested_anchors(size: int) -> bytes:
    depth = 40
    nest = b"".join(b"&b%d [" % at for at in range(depth)) + b"1" + b"]" * depth
    return filled(size, b"http://e/p:\n", b"- %s\n" % nest, b"", b"")


repeated(
    "repeated anchors, with aliases",
    b"http://e/p:\n- &a [1]\n",
    b"- &a [*a, *a]\n",
    b"",
    b"",
    **YAML,
)
repeated("deep flow sequences", b"http://e/p: ", b"[", b"", b"", **YAML)
repeated("deep flow mappings", b"http://e/p: ", b"{a: ", b"", b"", **YAML)
repeated("deep block sequences", b"http://e/p:\n", b"- ", b"1\n", b"", **YAML)
repeated("deep explicit keys (question marks)", b"", b"? ", b"1\n", b"", **YAML)
repeated(
    "flow sequences, at the largest allowed depth",
    b"http://e/p: ",
    b"[",
    b"",
    b"",
    options={"max_depth": 100},
    **YAML,
)
repeated(
    "block sequences, at the largest allowed depth",
    b"http://e/p:\n",
    b"- ",
    b"1\n",
    b"",
    options={"max_depth": 100},
    **YAML,
)
repeated("block sequences of one-digit numbers", b"http://e/p:\n", b"- 1\n", b"", b"", **YAML)
repeated("empty documents", b"", b"---\n", b"", b"", formats=("yamlld",))
repeated("comments", b"http://e/p: 1\n", b"# x\n", b"", b"", plain=True, **YAML)
repeated("a plain scalar over many lines", b"http://e/p:\n", b"  x\n", b"", b"", plain=True, **YAML)
repeated("a block scalar of empty lines", b"http://e/p: |+\n", b"\n", b"", b"", **YAML)
repeated(
    "escapes in a double-quoted scalar",
    b'http://e/p: "',
    b"\\x41\\U0001F600",
    b'"\n',
    b"",
    plain=True,
    **YAML,
)
repeated("tags", b"http://e/p:\n", b"- !!int 0x1F\n", b"", b"", **YAML)


def remote_contexts(case: Hostile, size: int) -> Iterable[tuple[str, bytes]]:
    """The remote contexts of a case, with their URLs."""
    return case.remote(size).items() if case.remote else ()
