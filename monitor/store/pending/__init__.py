"""Pending work on stored interactions: its queue, its results, and what language models used.

In: claims, finished assessments and judgements.
Out: work that is due; the budget that all processes share.
"""
