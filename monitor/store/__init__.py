"""Postgres: tables, the batch writer, queries, and the embedded server."""
