"""A scripted OpenAI-compatible server on 127.0.0.1 over real HTTP: chat completions, embeddings, models, batches.

`python -m tests.servers.llm` runs it by hand.
"""

from tests.servers.llm.batches import BatchEnd, Batches, expired, failed
from tests.servers.llm.chat import CHAT_MODEL, ChatRequest
from tests.servers.llm.embeddings import DIMENSIONS, MAX_INPUTS, MODEL, embedded, row, vector_of
from tests.servers.llm.server import KEY, LLMServer, made_up
from tests.servers.llm.serving import llm_server
from tests.servers.llm.troubles import (
    CUT,
    HANG_UP,
    Trouble,
    completed,
    hang,
    model_refusal,
    not_json,
    refusal,
    server_error,
    too_many_requests,
    trickle,
)

__all__ = [
    "CHAT_MODEL",
    "CUT",
    "DIMENSIONS",
    "HANG_UP",
    "KEY",
    "MAX_INPUTS",
    "MODEL",
    "BatchEnd",
    "Batches",
    "ChatRequest",
    "LLMServer",
    "Trouble",
    "completed",
    "embedded",
    "expired",
    "failed",
    "hang",
    "llm_server",
    "made_up",
    "model_refusal",
    "not_json",
    "refusal",
    "row",
    "server_error",
    "too_many_requests",
    "trickle",
    "vector_of",
]
