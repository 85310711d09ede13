"""The command `monitor rescore`.

Takes a profile and a span of time; gives stored answers a second verdict, and shows which verdicts move.
"""
