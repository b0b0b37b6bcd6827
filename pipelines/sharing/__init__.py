"""Marts to give to others: every group of at least k individuals, no ids, no names unless asked for.

Belongs here: k-anonymity and the folder it is written to. Does not belong here: what is counted (`sql/share/`).
"""
