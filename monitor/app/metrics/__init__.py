"""Metrics for Prometheus: those of this process, and those of the whole installation, which every process can show.

In: durations that the stages tell, and figures of the store. Out: three pages, `/metrics` and one for each kind.
"""
