"""Inputs: from what users name to batches of messages, their errors and the ends of logs."""
