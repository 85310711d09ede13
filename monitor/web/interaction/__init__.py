"""Interactions. In: stored interactions with their assessments, judgements and labels, and counts by verdict.

Out: the overview, the list and its export, the page of one interaction, and the same under `/api/v1`.
"""
