"""Findings: what went wrong in a week, found in counts by the hour without any alert rule.

Takes the hourly counts of four weeks; gives outages, rises and levels that stand out, with how sure each is.
"""
