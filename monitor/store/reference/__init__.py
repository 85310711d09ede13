"""Frozen references in the database.

Takes the live assessments of a period; gives frozen rows of scores, sealed as acts, to those who rank later answers.
"""
