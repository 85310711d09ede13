"""In: texts. Out: sentence vectors and token vectors.

They come from the embedded MiniLM or from an OpenAI-compatible provider, with a cache in front of either.
"""
