"""The ledger. In: counted messages by group, topic and partition.

Out: `/api/v1/ledger`.
"""
