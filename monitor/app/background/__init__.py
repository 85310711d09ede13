"""Work that runs while events flow: alert rounds, progress, metrics, sealing. In: an `Application` and its clock.

Out: context managers that start the work on entering and wait for what is running on leaving.
"""
