"""A made-up support bot with its traffic, minute counts, a Kafka to run locally, and fakes. In: a scenario and a seed.

Out: interactions with their true verdicts, for demos, tests and benchmarks.
"""
