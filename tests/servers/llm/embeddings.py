"""POST /v1/embeddings.

It refuses the same requests as OpenAI (https://platform.openai.com/docs/api-reference/embeddings/create): too many
inputs, inputs that are too long or empty, unknown models. A token counts as one UTF-8 byte, the strictest reading of a
byte-level vocabulary.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any
from zlib import crc32

import numpy as np

from tests.servers.llm.troubles import Trouble, refusal, replied

MODEL = "text-embedding-3-small"
DIMENSIONS = 1536

MAX_INPUTS = 2048
MAX_INPUT_TOKENS = 8192
MAX_REQUEST_TOKENS = 300_000


def embedded(rows: Any) -> Trouble:
    """A 200 whose `data` are these rows."""
    return replied({"object": "list", "data": rows, "model": MODEL})


def row(index: Any, embedding: Any) -> dict[str, Any]:
    return {"object": "embedding", "index": index, "embedding": embedding}


def vector_of(text: str, dimensions: int) -> np.ndarray[Any, np.dtype[np.float32]]:
    """The vector that the server gives a text: not of length 1, and the same on every machine."""
    return np.random.default_rng(crc32(text.encode())).normal(size=dimensions).astype(np.float32)


def embed(body: dict[str, Any], models: Mapping[str, int], *, only_numbers: bool) -> Trouble:
    """Answers a request to a server with these models and their dimensions."""
    if body["model"] not in models:
        return refusal(404, f"The model `{body['model']}` does not exist", code="model_not_found")
    inputs = inputs_of(body)
    problem = _problem(inputs)
    if problem:
        return refusal(400, problem)
    full = models[body["model"]]
    dimensions = body.get("dimensions", full)
    if not 0 < dimensions <= full:
        return refusal(400, f"Invalid value for 'dimensions': {dimensions}")
    numbers = only_numbers or body.get("encoding_format", "float") == "float"
    vectors = [vector_of(text, dimensions) for text in inputs]
    rows = [
        row(index, vector.tolist() if numbers else base64.b64encode(vector.tobytes()).decode())
        for index, vector in enumerate(vectors)
    ]
    return embedded(rows[::-1])  # the API does not promise the order of `data`


def inputs_of(body: dict[str, Any]) -> list[str]:
    """The texts of a request; none if it is not a request for embeddings."""
    inputs: str | list[str] = body.get("input", [])
    return [inputs] if isinstance(inputs, str) else inputs


def _problem(inputs: list[str]) -> str | None:
    sizes = [len(text.encode()) for text in inputs]
    if not inputs or not all(sizes):
        return "'$.input' is invalid: it is empty or holds an empty string"
    if len(inputs) > MAX_INPUTS:
        return f"'$.input' is invalid: {len(inputs)} inputs, the maximum is {MAX_INPUTS}"
    if max(sizes) > MAX_INPUT_TOKENS:
        return f"This model's maximum context length is {MAX_INPUT_TOKENS} tokens, however you requested {max(sizes)}"
    if sum(sizes) > MAX_REQUEST_TOKENS:
        return f"Requested {sum(sizes)} tokens, max {MAX_REQUEST_TOKENS} tokens per request"
    return None
