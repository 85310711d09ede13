"""Labels and profiles. In: answers to label, people's labels, and the profiles that verdicts were given under.

Out: the review queue, the profile pages, `/api/v1/labels` and `/api/v1/profiles`.
"""
