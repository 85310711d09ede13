"""What a trace says as a whole. In: the steps of a trace. Out: question, documents, answer, and what surrounds them."""
