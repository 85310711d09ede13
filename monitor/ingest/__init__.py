"""Reads messages and turns them into interactions. In: bytes from Kafka, files or standard input.

Out: interactions, dead letters, and offsets to store with them.
"""
