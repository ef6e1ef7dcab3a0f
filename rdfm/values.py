"""Columns of values, each of which is one message: the functions of `rdfm.logs.values`."""

from rdfm.logs.values import ValueDecoder, ValueEncoder, decode_values, encode_values

__all__ = ["ValueDecoder", "ValueEncoder", "decode_values", "encode_values"]
