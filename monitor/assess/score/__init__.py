"""In: the texts of interactions with their vectors. Out: scores and evidence.

They say how question, documents, support and answer relate: five similarities, token alignment, overlap, hard facts.
"""
