"""Is everything healthy, and if not, what a person should do.

Belongs here: one file of checks a subject, each a plain function of a `Case` (and, where it asks what is published, of
the open snapshot) that returns findings. Does not belong here: mending anything, the live database (the job may hold
it), the network.
"""
