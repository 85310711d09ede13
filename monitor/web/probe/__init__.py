"""Golden sets and the runs of probes. In: what `monitor probe run` and the schedule stored.

Out: the pages `/probes` and `/probes/{run}`, `/api/v1/probes` with its runs, and `/api/v1/golden`.
"""
