"""A turn as a chatbot reports it."""

from __future__ import annotations

TURN = {"question": "How long?", "retrieved_documents": ["30 days."], "answer": "30 days."}
