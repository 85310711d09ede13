"""A detector on onnxruntime: runs any token classifier or NLI cross-encoder that a user exports."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

import numpy as np
from typing_extensions import override

from monitor.assess.detect.claim_windows import ClaimInputs, Input, Probabilities, conclude
from monitor.assess.detect.classifiers import Classifier, CrossEncoder, TokenClassifier
from monitor.assess.detect.detection import Claim, Detection
from monitor.assess.detect.model_folder import ModelFolder, model_folder
from monitor.assess.detect.pair_model import Device, PairModel
from monitor.assess.detect.tokenizer import PairTokenizer
from monitor.assess.ports import Detector
from monitor.core.errors import Retriable

_INPUTS_PER_GROUP = 4_096  # inputs of several claims that are sorted by length together
# The claims that a model reads while loading, so that one that does not work is found out then.
_TRIAL = (
    Claim(question="Which day?", answer="It opens on Monday.", documents=("The shop opens on Monday.",)),
    Claim(question="Who?", answer="Nobody.", documents=("It is closed.",)),
)


class OnnxDetector(Detector):
    """Runs a user's model. Any number of threads may call at the same time."""

    def __init__(
        self,
        path: Path,
        *,
        device: Device = "auto",
        threads: int = 0,
        max_tokens: int = 4_096,
        max_inputs: int = 512,
        max_input_chars: int = 200_000,
        prompt: str | None = None,
    ) -> None:
        """Loads the model in the folder `path` and tries it.

        Args:
            path: a folder that `model_folder` can read.
            device: `auto` stands for the GPU if onnxruntime reaches one, else for the CPU.
            threads: on the CPU; 0 stands for one per core.
            max_tokens: tokens of one input, special ones included; fewer if the model reads fewer.
            max_inputs: a claim that needs more inputs is not judged.
            max_input_chars: a claim with more characters in all its texts is not judged.
            prompt: the prompt that a token classifier other than LettuceDetect was trained with.

        Raises:
            WrongSettings: the folder, the model or the device cannot be used; the message says what to change.
        """
        folder = model_folder(path)
        model = PairModel(folder, device=device, threads=threads, max_tokens=max_tokens)
        self._model: Final = model
        self._classifier: Final = _classifier(
            folder, model.tokenizer, window=model.window, max_inputs=max_inputs, prompt=prompt
        )
        self._max_input_chars: Final = max_input_chars
        self._name: Final = model.name(prompt=prompt)
        self.device: Final = model.device
        self._try()

    @property
    @override
    def model(self) -> str:
        return self._name

    @override
    def detect(self, claims: Sequence[Claim]) -> list[Detection | None]:
        """One detection per claim, in order.

        None for a claim without documents or answer, with texts that are too long, or for which the model returned a
        value that is not a number.

        Raises:
            Retriable: the model cannot run for now (out of memory).
        """
        found: list[Detection | None] = [None] * len(claims)
        for group in self._groups(claims):
            inputs = [it for _, claim in group for it in claim.inputs]
            try:
                uncarried = iter(self._read(inputs))
            except Exception as error:  # onnxruntime's errors have no common base class
                if len(claims) == 1:
                    raise Retriable(f"the detector {self.model} failed to run: {error}") from error
                return self._one_by_one(claims)
            for number, claim in group:
                found[number] = conclude(claim, list(islice(uncarried, claim.count)))
        return found

    def _one_by_one(self, claims: Sequence[Claim]) -> list[Detection | None]:
        """Detects claim by claim after a run failed: a claim that always fails must not hold up the others forever."""
        found: list[Detection | None] = []
        failure: Retriable | None = None
        for claim in claims:
            try:
                found += self.detect([claim])
            except Retriable as error:
                failure = error
                found.append(None)
        if failure and not any(found):
            raise failure
        return found

    def _groups(self, claims: Sequence[Claim]) -> Iterator[list[tuple[int, ClaimInputs]]]:
        """The inputs of the claims, each with the number of its claim, some thousand inputs at a time."""
        group: list[tuple[int, ClaimInputs]] = []
        size = 0
        for number, claim in enumerate(claims):
            if sum(map(len, (claim.question, claim.answer, *claim.documents))) > self._max_input_chars:
                continue
            inputs = self._classifier.claim_inputs(claim)
            if inputs is None:
                continue
            group.append((number, inputs))
            size += inputs.count
            if size >= _INPUTS_PER_GROUP:
                yield group
                group, size = [], 0
        if group:
            yield group

    def _read(self, inputs: Sequence[Input]) -> list[Probabilities]:
        """Runs the model and returns the probabilities of each input's units."""
        found: list[Probabilities] = [np.empty(0, np.float32)] * len(inputs)
        for run, logits, feed in self._model.read(inputs):
            for place, uncarried in zip(run, self._classifier.uncarried(logits, feed), strict=True):
                found[place] = uncarried
        return found

    def _try(self) -> None:
        """Reads two short claims, whose inputs differ in length.

        Raises:
            WrongSettings: the model fails, or returns values that are not numbers.
        """
        trials = [inputs for claim in _TRIAL if (inputs := self._classifier.claim_inputs(claim)) is not None]
        try:
            found = self._read([it for trial in trials for it in trial.inputs])
        except Exception as error:  # noqa: BLE001  onnxruntime's errors have no common base class
            raise self._model.fails(error) from None
        if not found or np.isnan(np.concatenate(found)).any():
            raise self._model.gives_no_numbers()


def _classifier(
    folder: ModelFolder, tokenizer: PairTokenizer, *, window: int, max_inputs: int, prompt: str | None
) -> Classifier:
    if folder.kind == "cross-encoder":
        return CrossEncoder(
            tokenizer,
            window=window,
            max_inputs=max_inputs,
            label_count=folder.label_count,
            entailment=folder.labels[0],
        )
    return TokenClassifier(
        tokenizer,
        window=window,
        max_inputs=max_inputs,
        label_count=folder.label_count,
        uncarried_labels=folder.labels,
        prompt=prompt,
    )
