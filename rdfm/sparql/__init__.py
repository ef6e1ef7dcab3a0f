"""SPARQL queries over logs: SELECT to tables, CONSTRUCT to logs, ASK to the indexes of messages.

In: logs of messages as `open_log` takes them, each message by itself or all as one dataset. Out: rows, or a log.
Cost: a batch, and the solutions of its messages; with `whole` the dataset.
Law: messages come in order, each as if there were no other; what is written appears only when it is complete.
"""
