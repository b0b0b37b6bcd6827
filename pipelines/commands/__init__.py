"""The commands of `valleywatch`, one a file: `add_to` declares it, `execute` runs it and returns the exit code.

Belongs here: arguments, and what is printed. Does not belong here: the work itself.
"""
