"""In: the scores and the evidence of an interaction, and a profile.

Out: a verdict with its reasons and probabilities; how an answer refuses is read from its wording.
"""
