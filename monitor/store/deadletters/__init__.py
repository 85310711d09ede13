"""Dead letters: lists of them, and what a retry or a purge makes of them.

In: filters; the results of a retry.
Out: letters and their causes; ledgers that still balance.
"""
