"""Calibration: from labelled answers to a profile whose probabilities hold for them.

Takes labelled rows with their assessments; gives a profile, its TOML file and what it reaches on held-out answers.
"""
