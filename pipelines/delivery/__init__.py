"""Delivery: from the outbox to the channels that people and pagers read.

Belongs here: what is due, when it is tried again, how each channel wants it. Does not belong here: which alerts there
are (`pipelines.alerts`). This is the only package that opens a connection to elsewhere, object stores aside.
"""
