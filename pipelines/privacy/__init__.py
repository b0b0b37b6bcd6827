"""What of a log is never kept, kept under another name, or kept for a while.

Belongs here: the section `[privacy]`, the key that ids are hashed with, and the upkeep of what is stored already. Does
not belong here: hashing an id (`sql/ingest/macros/1_pseudonym.sql`), what is given to others (`pipelines.sharing`).
"""
