"""Removes data: what is past its retention, and what one person asks to have erased.

In: a policy or the person's ids. Out: rows removed or blanked, and a count of them.
"""
