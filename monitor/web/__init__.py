"""The dashboard and the JSON API. In: HTTP requests from people and scripts, and the rows that `store` reads.

Out: server-rendered pages, JSON under `/api/v1`, and what people decide here: labels, silences, retries, exports.
"""
