"""What the report says of retrieval: diagnoses, questions that nothing retrieved answers, and documents.

In: facts. Out: JSON for the content, and sections of it.
"""
