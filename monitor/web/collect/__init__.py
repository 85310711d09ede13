"""The door for chatbots that send: OTLP over HTTP and gRPC, and interactions over HTTP.

In: requests. Out: spans and events, kept by an `Intake` before the request is answered.
"""
