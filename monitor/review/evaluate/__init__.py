"""Evaluation: labelled answers against the verdicts they get, with the study's tables and intervals.

Takes labelled rows with their assessments; gives figures, and these as JSON, Markdown, HTML or terminal tables.
"""
