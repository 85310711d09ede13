"""Finds the texts of documents that a trace knows by id only. In: ids. Out: texts.

`resolve` fills them into turns; `sql`, `http` and `file` are the sources, `guard` bounds what they cost.
"""
