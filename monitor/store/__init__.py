"""Postgres: the tables, and one folder per noun that reads and writes them.

In: batches, claims, rounds of alerting, what people do.
Out: rows; the same nouns again; `Retriable` where the database is out of reach.
"""
