"""The two kinds of model: how each reads a claim, and how its logits become probabilities."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from monitor.assess.detect.claim_windows import ClaimInputs, Probabilities, UnitGroup
from monitor.assess.detect.detection import Claim
from monitor.assess.detect.tokenizer import Feed, PairTokenizer
from monitor.assess.embed.windows import token_windows
from monitor.core.errors import WrongSettings
from monitor.core.text.sentences import Span, sentence_spans

# LettuceDetect was trained on these words and needs exactly them: RAGTruth's prompts for questions and for summaries
# (Niu et al., 2024; https://github.com/KRLabsOrg/LettuceDetect, qa_prompt_en.txt, summary_prompt_en.txt).
QUESTION_PROMPT = (
    "Briefly answer the following question:\n{question}\n"
    "Bear in mind that your response should be strictly based on the following {count} passages:\n{documents}\n"
    "In case the passages do not contain the necessary information to answer the question, please reply with: "
    '"Unable to answer based on given passages."\noutput:'
)
SUMMARY_PROMPT = "Summarize the following text:\n{documents}\noutput:"

_DOCUMENTS = "{documents}"
_LEAST_ROOM = 48  # tokens besides the prompt and the special ones; less holds hardly a sentence per window


class Classifier(Protocol):
    """A kind of model. Its methods are pure; any number of threads may call at the same time."""

    def claim_inputs(self, claim: Claim) -> ClaimInputs | None:
        """The inputs that the model reads; None for a claim without documents or answer, or with too many inputs."""

    def uncarried(self, logits: NDArray[Any], feed: Feed) -> list[Probabilities]:
        """For each input of the feed, the probability of each unit that it is not carried; NaN where the logits are.

        Raises:
            ValueError: the logits do not have the shape that this kind of model gives.
        """


class TokenClassifier(Classifier):
    """Judges each token of the answer, which follows a prompt with the question and the documents.

    The method is LettuceDetect's (Kovács and Recski, 2025, arXiv:2502.17125): the prompt is the first sequence, the
    answer the second. Documents too long for one input are split into windows that end at sentence ends; each input has
    one window and everything else. The question takes at most a quarter of the room (the rest of it is cut off), and a
    long answer is read in parts of half the room. LettuceDetect's own package takes the maximum over windows, so that
    one part of a long context counts against what only another part carries; here it is the minimum.
    """

    def __init__(
        self,
        tokenizer: PairTokenizer,
        *,
        window: int,
        max_inputs: int,
        label_count: int,
        uncarried_labels: Sequence[int],
        prompt: str | None = None,
    ) -> None:
        """`prompt` replaces LettuceDetect's. It holds `{documents}`, and may hold `{question}` and `{count}`.

        Raises:
            WrongSettings: the prompt lacks `{documents}`, or leaves too little room in `window` tokens.
        """
        self._prompts = (prompt, prompt) if prompt is not None else (QUESTION_PROMPT, SUMMARY_PROMPT)
        if any(text.count(_DOCUMENTS) != 1 for text in self._prompts):
            raise WrongSettings(
                "MONITOR_DETECTOR__PROMPT: must contain {documents} exactly once; it may contain {question} and {count}"
            )
        self._tokenizer = tokenizer
        self._room = window - tokenizer.special
        longest = max(sum(len(tokenizer.tokens(text).ids) for text in _filled(it, "", 9_999)) for it in self._prompts)
        self._free = self._room - longest  # for question, documents and answer
        if self._free < _LEAST_ROOM:
            raise WrongSettings(
                f"the detector reads {window} tokens at a time, of which its prompt leaves {max(self._free, 0)}: "
                "raise MONITOR_DETECTOR__MAX_TOKENS, shorten MONITOR_DETECTOR__PROMPT, or use a model that reads more"
            )
        self._max_inputs = max_inputs
        self._label_count = label_count
        self._labels = list(uncarried_labels)

    @override
    def claim_inputs(self, claim: Claim) -> ClaimInputs | None:
        documents = [text for text in claim.documents if text.strip()]
        answer = self._tokenizer.tokens(claim.answer)
        if not documents or not claim.answer.strip() or not len(answer.ids):
            return None
        body = "\n".join(f"passage {number}: {text}" for number, text in enumerate(documents, 1))
        template = self._prompts[0 if claim.question.strip() else 1]
        head, tail = _filled(template, self._shortened(claim.question), len(documents))
        # Tokenised as a whole and then cut, so that a prompt that fits one input is what the model saw in training.
        whole = self._tokenizer.tokens(head + body + tail)
        starts, ends = np.array(whole.offsets, np.int64).T - len(head)
        first, last = np.searchsorted(ends, 0, side="right"), np.searchsorted(starts, len(body))
        parts = token_windows(claim.answer, answer.offsets, self._free // 2)
        capacity = self._room - first - (len(whole.ids) - last) - max(end - start for start, end in parts)
        if capacity < 1:  # the shortened question has more tokens than it had as part of the longer one
            return None
        offsets = list(zip(starts[first:last].tolist(), ends[first:last].tolist(), strict=True))
        windows = token_windows(body, offsets, int(capacity))
        units = [_trimmed(claim.answer, span) for span in answer.offsets]
        if len(parts) * len(windows) > self._max_inputs or not any(end > start for start, end in units):
            return None
        within = whole.ids[first:last]
        return ClaimInputs(
            groups=tuple(
                UnitGroup(units=tuple(units[start:end]), tokens=answer.ids[start:end]) for start, end in parts
            ),
            windows=tuple((whole.ids[:first], within[start:end], whole.ids[last:]) for start, end in windows),
            joined=True,
        )

    @override
    def uncarried(self, logits: NDArray[Any], feed: Feed) -> list[Probabilities]:
        """One probability per token of the second sequence, from logits of shape (inputs, tokens, labels)."""
        _check(logits, (*feed.ids.shape, self._label_count))
        found: list[Probabilities] = []
        for line, second in zip(logits, feed.seconds, strict=True):
            found.append(_softmax(line[second])[:, self._labels].sum(1))
        return found

    def _shortened(self, question: str) -> str:
        """The question, or its beginning if it would take the room of the answer and the documents."""
        offsets = self._tokenizer.tokens(question).offsets
        most = self._free // 4
        return question if len(offsets) <= most else question[: offsets[most - 1][1]]


class CrossEncoder(Classifier):
    """Judges each sentence of the answer (hypothesis) against each window of each document (premise), as NLI models do.

    The probability of a sentence is 1 - max P(entailment) over the windows, as in SummaC's zero-shot form (Laban et
    al., 2022, TACL 10). Sentences longer than half the room are judged in parts.
    """

    def __init__(
        self, tokenizer: PairTokenizer, *, window: int, max_inputs: int, label_count: int, entailment: int
    ) -> None:
        """`entailment` is the number of the label for entailment.

        Raises:
            WrongSettings: `window` tokens are too few.
        """
        self._tokenizer = tokenizer
        self._room = window - tokenizer.special
        if self._room < _LEAST_ROOM:
            raise WrongSettings(f"the detector reads {window} tokens at a time: raise MONITOR_DETECTOR__MAX_TOKENS")
        self._max_inputs = max_inputs
        self._label_count = label_count
        self._entailment = entailment

    @override
    def claim_inputs(self, claim: Claim) -> ClaimInputs | None:
        sentences = sentence_spans(claim.answer)
        if len(sentences) > self._max_inputs:
            return None
        groups = [group for span in sentences for group in self._hypotheses(claim.answer, span)]
        if not groups:
            return None
        capacity = self._room - max(len(group.tokens) for group in groups)
        windows: list[tuple[NDArray[np.int32]]] = []
        for text in claim.documents:
            tokens = self._tokenizer.tokens(text)
            cut = token_windows(text, tokens.offsets, capacity)
            windows += [(tokens.ids[start:end],) for start, end in cut if end > start]
        if not windows or len(groups) * len(windows) > self._max_inputs:
            return None
        return ClaimInputs(groups=tuple(groups), windows=tuple(windows), joined=False)

    @override
    def uncarried(self, logits: NDArray[Any], feed: Feed) -> list[Probabilities]:
        """One probability per input, from logits of shape (inputs, labels)."""
        _check(logits, (len(feed.ids), self._label_count))
        return list(1 - _softmax(logits)[:, [self._entailment]])

    def _hypotheses(self, answer: str, sentence: Span) -> Iterable[UnitGroup]:
        text = answer[sentence[0] : sentence[1]]
        tokens = self._tokenizer.tokens(text)
        for start, end in token_windows(text, tokens.offsets, self._room // 2):
            if end > start:
                unit = _trimmed(text, (tokens.offsets[start][0], tokens.offsets[end - 1][1]))
                yield UnitGroup(units=((unit[0] + sentence[0], unit[1] + sentence[0]),), tokens=tokens.ids[start:end])


def _filled(template: str, question: str, count: int) -> tuple[str, str]:
    """The prompt before the documents and the prompt after them. Braces in the question stay as they are."""
    values = {"question": question, "count": str(count)}
    head, _, tail = template.partition(_DOCUMENTS)
    before, after = (re.sub(r"\{(question|count)\}", lambda it: values[it[1]], part) for part in (head, tail))
    return before, after


def _trimmed(text: str, span: Span) -> Span:
    """The span without white space at its ends, which many tokenisers include in a word."""
    piece = text[span[0] : span[1]]
    kept = piece.strip()
    start = span[0] + len(piece) - len(piece.lstrip())
    return start, start + len(kept)


def _check(logits: NDArray[Any], shape: tuple[int, ...]) -> None:
    if logits.shape != shape:
        raise ValueError(f"the logits have the shape {logits.shape}, not {shape}")


def _softmax(logits: NDArray[Any]) -> Probabilities:
    values = logits.astype(np.float32)
    with np.errstate(invalid="ignore"):  # inf - inf is NaN, as it should be
        powers = np.exp(values - values.max(-1, keepdims=True))
        shares: Probabilities = powers / powers.sum(-1, keepdims=True)
    return shares
