"""Sealing the audit trail. In: the queue of leaves and a key. Out: sealed leaves, and signed checkpoints at witnesses.

A witness is a place that the owner of the database cannot rewrite: a file, a Kafka topic, a Slack channel.
"""
