"""Alerts: the state machine that holds a deployment in the valley, and the record of what must be told.

Belongs here: policy over hours, episodes, the outbox. Does not belong here: estimating (`models/`), and nothing in this
package opens a connection to anywhere.
"""
