"""Ad-hoc SQL by people: the cookbook, what they may ask about, how answers look, and the interactive shell.

Belongs here: everything between `valleywatch sql` and a reader of the snapshot. Does not belong here: what is refused
and why (`warehouse`), arguments (`commands.sql`), the statements themselves (`sql/adhoc`).
"""
