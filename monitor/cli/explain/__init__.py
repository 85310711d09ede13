"""The command `monitor explain`.

Takes a stored row of `Queries.explained` and its profile; gives the conclusion and, on request, the arithmetic.
"""
