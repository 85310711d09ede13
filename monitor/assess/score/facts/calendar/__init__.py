"""Dates and times: how they are written in the languages covered, read, and implied by each other."""
