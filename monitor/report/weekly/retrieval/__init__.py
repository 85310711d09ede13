"""What the report says of retrieval: diagnoses, questions without a document, and documents.

In: facts. Out: JSON for the content, and sections of it.
"""
