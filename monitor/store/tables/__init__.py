"""The tables as SQLAlchemy sees them; `migrations/` creates them, and a test compares the two.

In: nothing.
Out: one `Table` object per table, in one `metadata`.
"""
