"""Python values of literals, for `Literal.to_python`.

In: a literal. Out: a Python value, or the literal.
Law: a Python value equals the value of the literal. The literal is returned if Python has no such
value, or if the lexical form is invalid.
"""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from rdfm._core import Literal

__all__ = ["PythonValue", "python_value"]

PythonValue: TypeAlias = (
    "str | int | Decimal | float | bool | datetime | date | time | timedelta | bytes | Literal"
)
_XSD = "http://www.w3.org/2001/XMLSchema#"
# The bounds of integer types, inclusive.
_INTEGERS: dict[str, tuple[float, float]] = {
    "integer": (-math.inf, math.inf),
    "nonNegativeInteger": (0, math.inf),
    "positiveInteger": (1, math.inf),
    "nonPositiveInteger": (-math.inf, 0),
    "negativeInteger": (-math.inf, -1),
    **{
        name: (-(1 << bits - 1), (1 << bits - 1) - 1)
        for name, bits in (("long", 64), ("int", 32), ("short", 16), ("byte", 8))
    },
    **{
        name: (0, (1 << bits) - 1)
        for name, bits in (
            ("unsignedLong", 64),
            ("unsignedInt", 32),
            ("unsignedShort", 16),
            ("unsignedByte", 8),
        )
    },
}
# Python does not parse longer integers.
_MAX_DIGITS = 4300
_DATE = r"(\d{4})-(\d\d)-(\d\d)"
_TIME = r"(\d\d):(\d\d):(\d\d)(?:\.(\d{1,6})0*)?"
_ZONE = r"(Z|[+-]\d\d:\d\d)?"
_DURATION = r"(-)?P(?=.)(?:(\d{1,9})D)?(?:T(?=.)(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,9})(?:\.(\d{1,6})0*)?S)?)?"


def python_value(literal: Literal) -> PythonValue:
    """Return the value of a literal, or the literal if no Python value represents it exactly."""
    datatype = literal.datatype.value
    if datatype == _XSD + "string":
        return literal.value
    convert = _CONVERSIONS.get(datatype)
    try:
        value = None if convert is None else convert(literal.value.strip(" \t\r\n"))
    except (ValueError, OverflowError):
        value = None
    return literal if value is None else value


def _integer(bounds: tuple[float, float], text: str) -> int | None:
    if not re.fullmatch(r"[+-]?\d+", text, re.ASCII) or len(text) > _MAX_DIGITS:
        return None
    value = int(text)
    return value if bounds[0] <= value <= bounds[1] else None


def _decimal(text: str) -> Decimal | None:
    is_valid = re.fullmatch(r"[+-]?(\d+(\.\d*)?|\.\d+)", text, re.ASCII)
    return Decimal(text) if is_valid else None


def _float(text: str) -> float | None:
    if text in ("INF", "+INF", "-INF"):
        return -math.inf if text[0] == "-" else math.inf
    is_valid = re.fullmatch(r"NaN|[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", text, re.ASCII)
    return float(text) if is_valid else None


def _boolean(text: str) -> bool | None:
    return {"true": True, "1": True, "false": False, "0": False}.get(text)


def _zone(text: str | None) -> timezone | None:
    if text is None or text == "Z":
        return None if text is None else UTC
    offset = timedelta(hours=int(text[1:3]), minutes=int(text[4:]))
    if int(text[4:]) > 59 or offset > timedelta(hours=14):
        raise ValueError(text)
    return timezone(-offset if text[0] == "-" else offset)


def _date(text: str) -> date | None:
    match = re.fullmatch(_DATE, text, re.ASCII)
    return date(*map(int, match.groups())) if match else None


def _time(text: str) -> time | None:
    match = re.fullmatch(_TIME + _ZONE, text, re.ASCII)
    if match is None:
        return None
    hour, minute, second, fraction, zone = match.groups()
    micros = int((fraction or "").ljust(6, "0"))
    if (int(hour), int(minute), int(second), micros) == (24, 0, 0, 0):
        hour = "0"
    return time(int(hour), int(minute), int(second), micros, _zone(zone))


def _date_time(text: str) -> datetime | None:
    match = re.fullmatch(f"({_DATE})T({_TIME})({_ZONE})", text, re.ASCII)
    if match is None:
        return None
    day, clock = _date(match[1]), _time(match[5] + match[10])
    if day is None or clock is None:
        return None
    moment = datetime.combine(day, clock)
    return moment + timedelta(days=1) if match[6] == "24" else moment


def _time_stamp(text: str) -> datetime | None:
    moment = _date_time(text)
    return None if moment is None or moment.tzinfo is None else moment


def _duration(text: str) -> timedelta | None:
    match = re.fullmatch(_DURATION, text, re.ASCII)
    if match is None:
        return None
    sign, days, hours, minutes, seconds, fraction = match.groups()
    value = timedelta(
        days=int(days or 0),
        hours=int(hours or 0),
        minutes=int(minutes or 0),
        seconds=int(seconds or 0),
        microseconds=int((fraction or "").ljust(6, "0")),
    )
    return -value if sign else value


def _hex(text: str) -> bytes | None:
    return bytes.fromhex(text) if re.fullmatch(r"([0-9a-fA-F]{2})*", text) else None


def _base64(text: str) -> bytes:
    return base64.b64decode(text.replace(" ", ""), validate=True)


_BY_NAME: dict[str, Callable[[str], PythonValue | None]] = {
    "anyURI": str,
    **{name: partial(_integer, bounds) for name, bounds in _INTEGERS.items()},
    "decimal": _decimal,
    "float": _float,
    "double": _float,
    "boolean": _boolean,
    "date": _date,
    "time": _time,
    "dateTime": _date_time,
    "dateTimeStamp": _time_stamp,
    "dayTimeDuration": _duration,
    "duration": _duration,
    "hexBinary": _hex,
    "base64Binary": _base64,
}
_CONVERSIONS = {_XSD + name: convert for name, convert in _BY_NAME.items()}
