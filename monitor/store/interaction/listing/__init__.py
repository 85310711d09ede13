"""Lists of interactions, a page at a time: what is filtered, searched and shown.

In: filters and a position. Out: rows, and how far the search came.
"""
