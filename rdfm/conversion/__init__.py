"""Logs to logs: options, stages and queues of a conversion, regrouping, the header of what is written."""
