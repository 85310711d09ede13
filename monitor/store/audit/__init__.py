"""The stored audit trail.

In: queued rows and acts, and the rows that they name. Out: leaves, tiles, checkpoints; proofs and verifications.
"""
