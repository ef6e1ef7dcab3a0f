"""SPARQL queries over logs: SELECT to tables, CONSTRUCT to logs, ASK to the indexes of messages.

In: logs of messages, as for `open_log`. Each message is queried separately, or all as one dataset.
Out: rows, or a log.
Cost: memory for a batch and the solutions of its messages; with `whole`, for the dataset.
Law: messages are queried in order and independently of each other. An output file appears only when
it is complete.
"""
