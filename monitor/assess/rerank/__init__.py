"""In: a question and texts. Out: how well each text answers it, from a cross-encoder that comes from the user."""
