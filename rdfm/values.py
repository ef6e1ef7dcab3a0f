"""Columns of values with one message each: the functions of `rdfm.conversion.values`."""

from rdfm.conversion.values import ValueDecoder, ValueEncoder, decode_values, encode_values

__all__ = ["ValueDecoder", "ValueEncoder", "decode_values", "encode_values"]
