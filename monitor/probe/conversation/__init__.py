"""In: a golden item and a chatbot. Out: what a conversation about the item found.

Steps T1 to T7 (metrics.md §4): `converse.py` is the flow, `roles.py` asks the language model, `leak.py` keeps out what
only the reference says.
"""
