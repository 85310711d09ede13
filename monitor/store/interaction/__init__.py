"""Interactions with their assessments and rollups, and the writer that stores a batch in one transaction.

In: batches of assessments, pending interactions and dead letters.
Out: tallies; pages of interactions, figures for the overview.
"""
