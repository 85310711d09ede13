"""Turns texts into token ids, and two sequences of them into one input, as a `tokenizer.json` defines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

from monitor.assess.detect.claim_windows import Input, TokenIds
from monitor.assess.embed.windows import well_formed
from monitor.core.errors import WrongSettings
from monitor.core.text.sentences import Span

_REMEDY = "use the one that was exported with the model"


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenisedText:
    """Tokens of a text without special ones: `ids`, and character `offsets`, ascending but not always disjoint."""

    ids: TokenIds
    offsets: tuple[Span, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Feed:
    """Inputs padded on the right: `ids`, `mask` and `types` of shape (n, longest); `seconds` are the second sequences.

    `seconds[i]` is the slice of row i that the second sequence takes.
    """

    ids: NDArray[np.int64]
    mask: NDArray[np.int64]
    types: NDArray[np.int64]
    seconds: tuple[slice, ...]


class PairTokenizer:
    """The tokenizer of a model that reads two sequences. Any number of threads may call at the same time."""

    def __init__(self, tokenizer: Tokenizer, *, padding: int = 0) -> None:
        """`padding` is the id that fills up short inputs.

        Raises:
            WrongSettings: the tokenizer does not put one sequence after the other.
        """
        tokenizer.no_truncation()
        tokenizer.no_padding()
        tokenizer.encode_special_tokens = True  # "[SEP]" in an answer is five characters, not a separator
        self._tokenizer = tokenizer
        self._padding = padding
        try:
            example = tokenizer.encode("a", "b")
        except Exception as error:  # noqa: BLE001  the library raises nothing narrower
            raise WrongSettings(f"tokenizer.json: cannot read two plain letters ({error}); {_REMEDY}") from None
        first, second = (_range(example, number) for number in (0, 1))
        if first is None or second is None or first[1] > second[0]:
            raise WrongSettings(f"tokenizer.json: does not put two sequences into one input; {_REMEDY}")
        ids, types = np.array(example.ids, np.int64), np.array(example.type_ids, np.int64)
        # The ids and types of the example without its two sequences, and the positions of the sequences.
        kept = np.ones(len(ids), bool)
        kept[slice(*first)] = kept[slice(*second)] = False
        self._special = ids[kept]
        self._special_types = types[kept]
        self._types = types[first[0]], types[second[0]]
        self._places = first[0], first[0] + second[0] - first[1]  # positions in the example without its sequences

    @classmethod
    def from_file(cls, path: Path, *, padding: int = 0) -> PairTokenizer:
        """Reads a `tokenizer.json`.

        Raises:
            WrongSettings: the file cannot be read, or the tokenizer makes no pairs.
        """
        try:
            tokenizer = Tokenizer.from_file(str(path))
        except Exception as error:  # noqa: BLE001  the library raises nothing narrower
            raise WrongSettings(f"{path}: not a file of the tokenizers library ({error}); {_REMEDY}") from None
        return cls(tokenizer, padding=padding)

    @property
    def special(self) -> int:
        """The number of special tokens of one input."""
        return len(self._special)

    @property
    def largest(self) -> int:
        """The highest token id of the vocabulary; a model with fewer embeddings cannot read it."""
        return max(self._tokenizer.get_vocab(with_added_tokens=True).values(), default=0)

    def tokens(self, text: str) -> TokenisedText:
        """The tokens of a text, without special tokens."""
        encoding = self._tokenizer.encode(well_formed(text), add_special_tokens=False)
        return TokenisedText(ids=np.array(encoding.ids, np.int32), offsets=tuple(encoding.offsets))

    def feed(self, inputs: Sequence[Input]) -> Feed:
        """The inputs with their special tokens. `inputs` must not be empty."""
        shape = len(inputs), max(it.size for it in inputs) + self.special
        ids, mask, types = np.full(shape, self._padding, np.int64), np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        seconds = []
        for row, it in enumerate(inputs):
            sequences = np.concatenate(it.first), it.second
            length = it.size + self.special
            ids[row, :length] = self._filled(self._special, sequences)
            types[row, :length] = self._filled(self._special_types, self._typed(sequences))
            mask[row, :length] = 1
            start = self._places[1] + len(sequences[0])
            seconds.append(slice(start, start + len(it.second)))
        return Feed(ids=ids, mask=mask, types=types, seconds=tuple(seconds))

    def _filled(self, special: NDArray[np.int64], sequences: Sequence[NDArray[Any]]) -> NDArray[np.int64]:
        """The special tokens with the sequences inserted at their positions."""
        first, second = self._places
        return np.concatenate([special[:first], sequences[0], special[first:second], sequences[1], special[second:]])

    def _typed(self, sequences: Sequence[TokenIds]) -> list[NDArray[np.int64]]:
        return [np.full(len(ids), kind, np.int64) for ids, kind in zip(sequences, self._types, strict=True)]


def _range(encoding: Encoding, number: int) -> Span | None:
    """The range of a sequence's tokens; None if it has none."""
    places = [place for place, sequence in enumerate(encoding.sequence_ids) if sequence == number]
    return (places[0], places[-1] + 1) if places else None
