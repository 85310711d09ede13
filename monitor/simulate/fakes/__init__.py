"""Fakes of stores, receivers and models. In: what a test or demo sets up. Out: the behaviour that the ports promise.

Each fake passes the contract suite of the adapter that it replaces.
"""
