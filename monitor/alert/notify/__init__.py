"""Notification: alerts, silences and what people did come in; messages in the outbox, and deliveries, go out.

`dispatch` plans, `describe` explains, `enqueue` writes to the outbox, `deliver` sends with retries.
"""
