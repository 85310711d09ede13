"""Sends verdicts out. In: claimed verdicts, as they stand now.

Out: log records over OTLP, annotations in Phoenix, scores in Langfuse, CloudEvents in a Kafka topic.
"""
