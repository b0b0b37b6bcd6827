"""The marts in a PostgreSQL database, for tools that ask one.

Belongs here: connecting, types, tables and how they are replaced. The only importer of psycopg, which is optional (the
extra `postgres`). Does not belong here: what a view holds (`sql/views/`), reading it (`warehouse`).
"""
