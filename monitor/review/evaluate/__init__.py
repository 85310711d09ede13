"""Labelled answers against the verdicts that they get: the study's tables, with intervals."""
