"""The ways out: what an alert looks like in each, and how it is carried there.

    build                       [[alerts]] and the environment → channels
    slack, webhook, alertmanager, pagerduty, email      one kind each: the form of its messages
    forms                       what several forms have in common
    post, smtp                  carrying one message by HTTP or SMTP, and what the answer means
    answers, redaction          how a refusal is told without telling a secret
    variables, endpoint         secrets and URLs from the environment
    addresses, connection, deadline     to whom a connection may go, and for how long

Does not belong here: which alerts go where and when they are tried again (`pipelines.delivery`).
"""

from pipelines.delivery.channels.build import build_channels

__all__ = ["build_channels"]
