"""The composition root, the only place that chooses adapters. In: settings. Out: an `Application` of built parts.

Parts are built, and imported, when they are first asked for: a command that only reads does not load models.
"""
