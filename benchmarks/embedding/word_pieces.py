"""Measures what it costs to cut texts into word pieces, beside the library `tokenizers`, and that both give the same.

    python benchmarks/embedding/word_pieces.py [--short] [--json PATH]

µs of CPU time a token, on the texts of MONITOR_DATA_DIR (default ../shared/data): one by one, joined to 8 million
characters, and as words that nobody has written before, which no cache holds. Ours and the library take turns; figures
are medians over rounds. Beside them the encoder in int8, on some of the texts. --short takes one text in twenty.

The number and place of every piece must be those of the library, or the program ends with 1.
"""

from __future__ import annotations

import gzip
import json
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from tokenizers import Tokenizer

from benchmarks.figures import finish, options
from benchmarks.labelled import DATA
from monitor.assess.embed.minilm import MiniLMEmbedder
from monitor.assess.embed.weights import TOKENIZER, shipped
from monitor.assess.embed.word_pieces import Pieces, WordPieces

SEED = 1
ROUNDS = 5
SEGMENT = 16_384  # characters: what the encoder has tokenised at a time
LONG = 8_000_000  # characters
MADE_UP = 20_000  # words
ENCODED = 200  # texts
SHORT = 20  # one text in so many


def labelled_texts(folder: Path) -> list[str]:
    """Every different text in the `.jsonl.gz` files below the folder, in their order."""
    found: dict[str, None] = {}
    for path in sorted(folder.rglob("*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                found.update(dict.fromkeys(_strings(json.loads(line))))
    return list(found)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _strings(inner)


def library() -> Callable[[str], Pieces]:
    tokenizer = Tokenizer.from_file(str(shipped(TOKENIZER)))
    tokenizer.no_truncation()
    tokenizer.no_padding()

    def pieces(text: str) -> Pieces:
        found = tokenizer.encode(text, add_special_tokens=False)
        spans = np.array(found.offsets, np.int32).reshape(-1, 2)
        return np.column_stack([np.array(found.ids, np.int32), spans])

    return pieces


def cost(work: Callable[[str], Any], texts: Sequence[str], tokens: int) -> float:
    """µs of CPU time a token."""
    started = time.process_time()
    for text in texts:
        work(text)
    return (time.process_time() - started) / tokens * 1e6


def made_up(words: int) -> str:
    chance = random.Random(SEED)
    letters = "abcdefghijklmnopqrstuvwxyz"
    return " ".join("".join(chance.choices(letters, k=chance.randint(3, 12))) for _ in range(words))


def segments(text: str) -> list[str]:
    return [text[start:end] for start, end in pairwise([*range(0, len(text), SEGMENT), len(text)])]


def main() -> None:
    asked = options(__doc__, "takes one text in twenty")
    every = labelled_texts(DATA)[:: SHORT if asked.short else 1]
    if not every:
        sys.exit(f"no texts below {DATA}: set MONITOR_DATA_DIR")
    theirs, ours = library(), WordPieces()
    tokens = 0
    for text in every:
        found = ours.pieces(text)
        if not np.array_equal(found, theirs(text)):
            sys.exit(f"not what the library makes of it: {text!r}")
        tokens += len(found)
    print(f"{len(every):,} texts with {tokens:,} tokens: numbers and places are those of the library")

    joined = "\n".join(every)
    long = joined * (LONG // len(joined) + 1)
    kinds = {
        "one by one": every[: len(every) // (1 if asked.short else SHORT)],
        "8 million characters": segments(long[: LONG // (SHORT if asked.short else 1)]),
        "made-up words": segments(made_up(MADE_UP)),
    }
    figures: dict[str, Any] = {"texts": len(every), "tokens": tokens}
    print(f"\nµs of CPU a token    {'ours':>8}  tokenizers  ratio")
    for name, texts in kinds.items():
        count = sum(len(ours.pieces(text)) for text in texts)
        pairs = [(cost(WordPieces().pieces, texts, count), cost(theirs, texts, count)) for _ in range(ROUNDS)]
        mine, other, ratio = (median(values) for values in zip(*((a, b, a / b) for a, b in pairs), strict=True))
        print(f"{name:<20} {mine:8.2f}  {other:10.2f}  {ratio:5.2f}")
        figures[name] = {"ours": round(mine, 2), "tokenizers": round(other, 2), "ratio": round(ratio, 2)}
    some = every[:ENCODED]
    count = sum(len(ours.pieces(text)) for text in some)
    encoder = MiniLMEmbedder(cache_dir=Path(), threads=1)
    encoded = cost(lambda text: encoder.embed_and_encode([text]), some, count)
    share = figures["one by one"]["ours"] / encoded
    print(f"\nthe encoder, cutting included: {encoded:.0f} µs; cutting is {share:.1%} of it")
    figures |= {"encoder": round(encoded, 1), "share": round(share, 4)}
    finish(figures, seed=SEED, path=asked.json)


if __name__ == "__main__":
    main()
