"""Offsets, the ledger of every partition, and how far reading has come.

In: offsets and outcomes of messages, reading progress.
Out: balances, recounts, the watermark and lag of every source.
"""
