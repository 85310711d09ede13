"""Use cases: what commands and pages do with events, stored rows and settings, without knowing who typed or clicked.

In: settings and an `Application` that wires adapters. Out: rows stored, figures and texts to show, processes that run.
"""
