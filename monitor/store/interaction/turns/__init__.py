"""Turns without scores, and turns of which more became known after they were stored.

In: interactions that are `unscored` or that `revise` a stored one. Out: their rows, counts by minute, and lists.
"""
