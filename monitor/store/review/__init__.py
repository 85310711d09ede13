"""Human labels, the offers to label, and the profiles that verdicts were given under.

In: labels and offers.
Out: candidates, opinions; verdicts of profiles beside labels.
"""
