"""In: interactions. Out: the supporting documents of each, located in its retrieved documents.

They are those of the event, the generator's (sidecar), or the sentences that carry the answer best (extractive).
"""
