"""In: single interactions, a sample of them. Out: judgements, the metrics that an LLM judges (metrics.md §2).

Judging runs in the background, outside the path of the events.
"""
