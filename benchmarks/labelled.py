"""Reads the labelled files and assesses them; vectors are cached on disk, so a second run encodes nothing new."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from monitor.assess.classify.profile import Profile, build_of, load_profile
from monitor.assess.complete.extractive import ExtractiveCompleter
from monitor.assess.embed.cache import content_key
from monitor.assess.embed.minilm import MiniLMEmbedder
from monitor.assess.embed.sentences import Vectors as SentenceVectors
from monitor.assess.embed.tokens import Tokens
from monitor.assess.pipeline import Pipeline
from monitor.core.message import Message, Position
from monitor.core.model import Assessment, Verdict
from monitor.core.settings.load import load_settings
from monitor.ingest.decode import Decoder
from monitor.review.evaluate.labels import Labelled

DATA = Path(os.environ.get("MONITOR_DATA_DIR", "../shared/data"))
DEV = (
    "dev/attribution",
    "dev/longform",
    "dev/dialogue",
    "dev/expert",
    "dev/natural_questions",
    "dev/short_answers",
)
TEST = ("test/attribution", "test/attribution_ood", "test/dialogue")
BATCH = 128

Vectors = NDArray[np.float32]


def read(name: str) -> list[Labelled]:
    """The rows of one file, such as `dev/longform`."""
    with gzip.open(DATA / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    now = datetime.now(UTC)
    messages = []
    for place, row in enumerate(rows):
        value = json.dumps(row).encode()
        at = Position(topic=name, partition=0, offset=place)
        messages.append(Message(value=value, position=at, received_at=now, size=len(value)))
    interactions, dead, _ = Decoder(app=name).decode_batch(messages)
    if dead:
        raise SystemExit(f"{name}: {dead[0].path} {dead[0].problem}")
    return [
        Labelled(
            interaction=interaction,
            label=Verdict(row["label"]),
            group=str(row["group"]),
            answerable=row.get("answerable"),
            drawn=None,
        )
        for row, interaction in zip(rows, interactions, strict=True)
    ]


def with_documents(rows: Sequence[Labelled]) -> list[Labelled]:
    """The rows whose generator saw the documents; longform has others too."""
    return [row for row in rows if row.interaction.tags.get("closed_book") != "1"]


class Encoded(NamedTuple):
    """A text's vector, tokens and vectors of sentences."""

    vector: Vectors
    tokens: Tokens
    sentences: SentenceVectors


class CachingEncoder:
    """MiniLM with a cache of vectors: it encodes only texts that are not in the cache."""

    def __init__(self, inner: MiniLMEmbedder, held: dict[bytes, Encoded]) -> None:
        self._inner, self.held = inner, held
        self.model, self.dimensions, self.token_model = inner.model, inner.dimensions, inner.token_model
        self.encoded = 0

    def _found(self, texts: Sequence[str]) -> list[Encoded]:
        keys = [content_key(text) for text in texts]
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in self.held}
        if new:
            encoded = self._inner.embed_and_encode(list(new.values()))
            self.held.update(zip(new, map(Encoded, *encoded), strict=True))
            self.encoded += len(new)
        return [self.held[key] for key in keys]

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See the port."""
        return np.array([found.vector for found in self._found(texts)], np.float32).reshape(-1, self.dimensions)

    def encode(self, texts: Sequence[str]) -> list[Tokens]:
        """See the port."""
        return [found.tokens for found in self._found(texts)]

    def sentences(self, texts: Sequence[str]) -> list[SentenceVectors]:
        """See the port."""
        return [found.sentences for found in self._found(texts)]


@contextmanager
def cached_pipeline(profile: str = "minilm-int8") -> Iterator[Pipeline]:
    """The pipeline under a profile, with extractive support; saves the vectors encoded in the block."""
    cache = load_settings().state_dir / "cache"
    inner = MiniLMEmbedder(build_of(profile), cache_dir=cache)
    path = cache / f"benchmarks-sentences-{inner.token_model.replace('/', '-')}.npz"
    encoder = CachingEncoder(inner, _load(path))
    try:
        yield Pipeline(
            completer=ExtractiveCompleter(),
            encoder=encoder,
            embedder=encoder,
            profile=load_profile(profile, encoder.model, encoder.token_model),
        )
    finally:
        if encoder.encoded:
            _save(path, encoder.held)


def assess(pipeline: Pipeline, rows: Sequence[Labelled]) -> list[Assessment]:
    answers = [row.interaction for row in rows]
    return [a for start in range(0, len(answers), BATCH) for a in pipeline.assess(answers[start : start + BATCH])]


def under(pipeline: Pipeline, profile: Profile) -> Pipeline:
    """The pipeline under another profile."""
    return replace(pipeline, profile=profile)


def _load(path: Path) -> dict[bytes, Encoded]:
    if not path.exists():
        return {}
    with np.load(path) as stored:
        parts = [np.split(stored[name], np.cumsum(stored[f"{name}_lengths"])[:-1]) for name in ("tokens", "sentences")]
        rows = map(Encoded, stored["vectors"], *parts)
        return {bytes(key): row for key, row in zip(stored["keys"], rows, strict=True)}


def _save(path: Path, held: dict[bytes, Encoded]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_suffix(".new.npz")
    np.savez(
        fresh,
        keys=np.frombuffer(b"".join(held), np.uint8).reshape(len(held), -1),
        vectors=np.stack([row.vector for row in held.values()]),
        tokens_lengths=np.array([len(row.tokens) for row in held.values()]),
        tokens=np.concatenate([row.tokens for row in held.values()]),
        sentences_lengths=np.array([len(row.sentences) for row in held.values()]),
        sentences=np.concatenate([row.sentences for row in held.values()]),
    )
    fresh.replace(path)
