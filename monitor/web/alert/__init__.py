"""Alerts, rules and silences. In: the rows of evaluated rules, and the configured rules file.

Out: the alert pages, `/api/v1/alerts` and `/api/v1/silences`, acknowledgements and silences.
"""
