"""Conversion of logs: options, stages, queues, regrouping, and the header of the output."""
