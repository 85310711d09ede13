"""Alerting: counts of stored answers come in; notifications to Slack, mail, PagerDuty and others go out.

`rules` says what to watch, `evaluation` and `methods` judge it, `notify` and `receivers` reach people.
"""
