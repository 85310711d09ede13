"""What all pages and API routes share. In: a request with a token or a session, and values from the database.

Out: who asks and what they may do, checked parameters, rendered pages, problems as RFC 9457, and masked texts.
"""
