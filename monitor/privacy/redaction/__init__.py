"""Finds personal data by its form, by country, and by configured patterns. In: a text. Out: what to replace in it.

`monitor.privacy.masking` masks every text that is shown; `redactor` cleans what is stored, if configured.
"""
