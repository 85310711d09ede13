"""The audit trail. In: its leaves, checkpoints and acts.

Out: the audit page, proofs, verification, the export as ZIP, and `/api/v1/audit`.
"""
