"""Personal data and how long data is kept. In: texts, interactions, dead letters, retention settings.

Out: the same with placeholders for personal data, and the times before which rows are removed.
"""
