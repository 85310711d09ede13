"""The weekly report on golden probes. In: the week's runs and those of the week before.

Out: their comparison as JSON, the section of the report, and a line for its head if something got worse.
"""
