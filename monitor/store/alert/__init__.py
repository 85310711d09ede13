"""Alerts in the database: what rules count, alerts with their history, the outbox, people's responses.

In: signals, transitions, notifications, silences.
Out: counts, alerts, notifications that are due; explanations of what changed.
"""
