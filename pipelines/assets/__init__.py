"""Dagster assets: wiring only. Each reads its partition, calls one plain function and returns counts.

Belongs here: dependencies, names, descriptions, metadata. Does not belong here: arithmetic, SQL, error handling.
"""
