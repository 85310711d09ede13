"""The command `monitor explain`.

Takes an interaction's stored assessments and their profiles; gives the conclusion, and the arithmetic on request.
"""
