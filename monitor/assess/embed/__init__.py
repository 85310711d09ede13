"""Texts to vectors: the embedded MiniLM, OpenAI-compatible providers, and a cache in front of either."""
