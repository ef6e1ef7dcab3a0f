"""Stages: the steps between reading and writing that every command can use."""
