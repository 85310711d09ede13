"""The nouns of the domain, ports, errors, retries, figures, settings, text functions and YAML; imports no other room.

In: nothing but arguments, never a clock or a connection. Out: types and pure functions that every other room uses.
"""
