"""A chatbot's side: hands questions, documents and answers to the monitor without ever blocking or breaking it.

In: what the chatbot read and answered. Out: events over HTTP, to Kafka or into a file. Imports nothing else of the
program, and of other packages only kafka-python, when events go to Kafka. docs/start/client.md shows how to use it.
"""

from __future__ import annotations

from monitor.client.observe import note, observe_rag
from monitor.client.reporter import Reporter
from monitor.client.support import SUPPORT_PROMPT, SupportStream, split_support

__all__ = ["SUPPORT_PROMPT", "Reporter", "SupportStream", "note", "observe_rag", "split_support"]
