"""Figures of many answers: counts by verdict, rates and how they are compared, latency, tokens, and what those cost.

In: numbers. Out: pure functions and values, for rules, pages and reports alike.
"""
