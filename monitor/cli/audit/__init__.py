"""The commands `monitor audit …`: seal, verify, prove and export the tamper-evident trail.

Takes leaves, checkpoints, keys and witnesses; gives findings, proofs as JSON and an export that verifies itself.
"""
