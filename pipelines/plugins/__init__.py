"""Loggers that run inside an inference engine and write what valleywatch reads.

Belongs here: modules of the standard library alone, each fit to be copied into an engine's environment as one file.
Does not belong here: anything that imports the rest of valleywatch.
"""
