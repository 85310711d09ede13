"""The nouns of the domain, the ports, errors, retries, figures, settings and text functions; imports no other room.

In: nothing but arguments, never a clock or a connection. Out: types and pure functions that every other room uses.
"""
