"""Labels by people: which answers to offer, what people agree on, and how well verdicts agree with them.

Takes stored interactions, opinions and labelled files; gives offers, agreement, evaluations and calibrated profiles.
"""
