"""Weekly reports: the facts of a week from rollups and rows, and the stored reports.

In: an app and a week.
Out: `Facts` for the report; stored reports and their headlines.
"""
