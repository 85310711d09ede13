"""The diagnosis of one interaction, for its page and for the API.

In: a stored row. Out: its chunks with their texts, masked; and the same as models of the API.
"""
