"""Keeps traces until they are whole, and the inbox of turns and events.

In: spans, log records, events. Out: traces that are due, and messages in order, each with its offset.
"""
