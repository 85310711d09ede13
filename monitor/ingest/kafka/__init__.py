"""The Kafka source. In: topics and the offsets that the store holds for a consumer group.

Out: messages in order, offsets to store, and an optional mirror of dead letters.
"""
