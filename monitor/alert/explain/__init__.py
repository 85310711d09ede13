"""What changed: which values go with the bad answers of an alert, what those were about, and three of them.

`explain.explain` reads like the flow: rows sorted by values, values compared, questions grouped, answers chosen. All of
it is pure; `store.changed` reads the rows.
"""
