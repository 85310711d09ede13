"""How question, documents, support and answer hang together, as numbers."""
