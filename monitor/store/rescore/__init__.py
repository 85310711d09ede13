"""Verdicts of stored answers under another profile.

Takes a profile and a span; adds second assessments, compares them with those shown, and puts them in use.
"""
