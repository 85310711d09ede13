"""The command `monitor demo`: a fictional bot's traffic through the whole program, on the terminal.

Takes a seed, and a broker or language model if wanted; gives a running commentary and commands to try next.
"""
