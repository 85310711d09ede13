"""In: interactions, in batches.

Out: one assessment for each, with its scores and verdict; beside the events, judgements of a sample by an LLM.
"""
