"""LLM-judged metrics of single interactions (metrics.md §2), on a sample, beside the event's way."""
