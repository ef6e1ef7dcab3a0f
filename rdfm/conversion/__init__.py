"""Log conversion: options, stages, queues, regrouping, and the output header."""
