"""Columns of values with one message each: the functions of `rdfm.logs.values`."""

from rdfm.logs.values import ValueDecoder, ValueEncoder, decode_values, encode_values

__all__ = ["ValueDecoder", "ValueEncoder", "decode_values", "encode_values"]
