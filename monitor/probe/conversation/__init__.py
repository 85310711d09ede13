"""In: a golden item and a target. Out: the turns of a conversation about it, each judged (T1 to T7, metrics.md §4)."""
