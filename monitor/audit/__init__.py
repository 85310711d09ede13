"""The proof side of the audit trail: canonical bytes, commitments, the Merkle tree, checkpoints, the export.

In: rows and acts to seal, hashes, notes.
Out: records, proofs, signed checkpoints, and a ZIP that an auditor checks with Python alone.
"""
