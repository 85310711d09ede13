"""A reranker on onnxruntime: runs any cross-encoder with one label that a user exports, as for MS MARCO."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from monitor.assess.detect.claim_windows import Input, TokenIds
from monitor.assess.detect.model_folder import Use, model_folder
from monitor.assess.detect.pair_model import Device, PairModel
from monitor.assess.embed.windows import token_windows
from monitor.assess.ports import MOST_RERANKED, Reranker
from monitor.core.errors import WrongSettings

_LEAST_ROOM = 48  # tokens besides the special ones; less holds hardly a sentence beside a question
_MOST_WINDOWS = 8  # of one text; a chunk of 500 characters takes no more, even with a token for every byte
# What a model reads while loading, so that one that does not work is found out then.
_TRIAL = "Which day does the shop open?", ("The shop opens on Monday.", "Closed.")
log = logging.getLogger(__name__)


class OnnxReranker(Reranker):
    """Runs a user's model. Any number of threads may call at the same time.

    The model reads the question as its first sequence and the text as its second (Nogueira and Cho, 2019,
    arXiv:1901.04085). A score is the logistic function of the logit. Of a question that takes more than half of the
    input, only the beginning is read; a text that does not fit into one input is read in windows, and its best one
    counts.
    """

    def __init__(self, path: Path, *, device: Device = "auto", threads: int = 0, max_tokens: int = 512) -> None:
        """Loads the model in the folder `path` and tries it; the other arguments are those of `PairModel`.

        Raises:
            WrongSettings: the folder, the model or the device cannot be used; the message says what to change.
        """
        model = PairModel(model_folder(path, Use.RERANKER), device=device, threads=threads, max_tokens=max_tokens)
        self._model: Final = model
        self._room: Final = model.window - model.tokenizer.special
        if self._room < _LEAST_ROOM:
            raise WrongSettings(
                f"the reranker reads {model.window} tokens at a time: raise MONITOR_RERANKER__MAX_TOKENS"
            )
        self._name: Final = model.name()
        self.device: Final = model.device
        self._failing = False
        self._try()

    @property
    @override
    def model(self) -> str:
        return self._name

    @override
    def rank(self, question: str, texts: Sequence[str]) -> list[float] | None:
        if len(texts) > MOST_RERANKED:
            raise ValueError(f"{len(texts)} texts are more than {MOST_RERANKED}")
        if not question.strip():
            return None
        try:
            scores = self._scores(question, texts)
        except Exception as error:  # noqa: BLE001  onnxruntime's errors have no common base class
            if not self._failing:  # said once, not with every event
                log.warning("the reranker %s failed to run, so chunks keep their order: %s", self.model, error)
            self._failing = True
            return None
        self._failing = False
        return scores.tolist() if np.isfinite(scores).all() else None

    def _scores(self, question: str, texts: Sequence[str]) -> NDArray[np.float64]:
        """The best score of each text's windows; 0 for a text without tokens, NaN where a logit is."""
        asked = self._model.tokenizer.tokens(question).ids[: self._room // 2]
        owners, inputs = [], []
        for number, text in enumerate(texts):
            for window in self._windows(text, self._room - len(asked)):
                owners.append(number)
                inputs.append(Input(first=(asked,), second=window))
        scores = np.zeros(len(texts))
        for run, logits, feed in self._model.read(inputs):
            if logits.shape != (len(feed.ids), 1):
                raise ValueError(f"the logits have the shape {logits.shape}, not {(len(feed.ids), 1)}")
            with np.errstate(invalid="ignore"):  # the maximum with NaN is NaN, as it should be
                np.maximum.at(scores, [owners[place] for place in run], _logistic(logits[:, 0]))
        return scores

    def _windows(self, text: str, capacity: int) -> list[TokenIds]:
        tokens = self._model.tokenizer.tokens(text)
        cut = token_windows(text, tokens.offsets, capacity)[:_MOST_WINDOWS]
        return [tokens.ids[start:end] for start, end in cut if end > start]

    def _try(self) -> None:
        """Reads two short texts that differ in length.

        Raises:
            WrongSettings: the model fails, or returns values that are not numbers.
        """
        try:
            scores = self._scores(*_TRIAL)
        except Exception as error:  # noqa: BLE001  onnxruntime's errors have no common base class
            raise self._model.fails(error) from None
        if not np.isfinite(scores).all():
            raise self._model.gives_no_numbers()


def _logistic(logits: NDArray[np.floating]) -> NDArray[np.float64]:
    """1 / (1 + e^-x), in the form that does not overflow; NaN for what is no number, infinity included."""
    numbers = np.where(np.isfinite(logits), logits, np.nan).astype(np.float64)
    scores: NDArray[np.float64] = 0.5 * (1 + np.tanh(numbers / 2))
    return scores
