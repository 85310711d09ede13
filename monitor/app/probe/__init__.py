"""In: a probe and a golden set. Out: a stored run. `schedule.py` runs probes by the clock."""
