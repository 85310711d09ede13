"""Dead letters. In: messages that could not be decoded into interactions.

Out: their list and pages, `/api/v1/dead-letters`, and retries in the background.
"""
