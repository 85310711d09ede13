"""A detector on onnxruntime: runs any token classifier or NLI cross-encoder that a user exports."""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
import onnxruntime as ort  # type: ignore[import-untyped]
from numpy.typing import NDArray
from typing_extensions import override

from monitor.assess.detect.claim_windows import ClaimInputs, Input, Probabilities, conclude
from monitor.assess.detect.classifiers import Classifier, CrossEncoder, TokenClassifier
from monitor.assess.detect.detection import Claim, Detection
from monitor.assess.detect.model_folder import ModelFolder, model_folder
from monitor.assess.detect.tokenizer import Feed, PairTokenizer
from monitor.assess.ports import Detector
from monitor.core.errors import Retriable, WrongSettings

Device = Literal["auto", "cpu", "cuda"]

_CPU, _CUDA = "CPUExecutionProvider", "CUDAExecutionProvider"
_INPUTS = {"input_ids", "attention_mask", "token_type_ids"}
_OUTPUT = "logits"
# Tokens of a run with padding: for each CPU thread, and on a GPU, where four inputs of 2,048 tokens still fit in 8 GB.
_TOKENS_PER_THREAD, _TOKENS_ON_GPU = 256, 8_192
_INPUTS_PER_GROUP = 4_096  # inputs of several claims that are sorted by length together
# The claims that a model reads while loading, so that one that does not work is found out then.
_TRIAL = (
    Claim(question="Which day?", answer="It opens on Monday.", documents=("The shop opens on Monday.",)),
    Claim(question="Who?", answer="Nobody.", documents=("It is closed.",)),
)
log = logging.getLogger(__name__)


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
        window = min(max_tokens, folder.positions or max_tokens)
        tokenizer = PairTokenizer.from_file(folder.tokenizer, padding=folder.padding)
        if folder.vocabulary is not None and tokenizer.largest >= folder.vocabulary:
            raise WrongSettings(
                f"{folder.tokenizer}: has tokens up to {tokenizer.largest}, but the model knows only "
                f"{folder.vocabulary}: they do not belong together; export both again"
            )
        self._classifier: Final = _classifier(folder, tokenizer, window=window, max_inputs=max_inputs, prompt=prompt)
        self._tokenizer: Final = tokenizer
        self._max_input_chars: Final = max_input_chars
        # Never 0, onnxruntime's default: it would pin the threads to cores, and those of two replicas to the same ones.
        threads = threads or os.cpu_count() or 1
        self._session: Final = _session(folder.graph, device=device, threads=threads)
        self._inputs: Final = _named_inputs(folder.graph, self._session)
        self._output: Final = _logits_name(folder.graph, self._session)
        self.device: Final = "cuda" if self._session.get_providers()[0] == _CUDA else "cpu"
        self._budget: Final = _TOKENS_ON_GPU if self.device == "cuda" else _TOKENS_PER_THREAD * max(threads, 2)
        self._name: Final = f"{folder.name}/{_build(folder, window=window, prompt=prompt)}"
        self._try(folder.graph)

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
        sizes = [it.size + self._tokenizer.special for it in inputs]
        for run in _runs(sizes, self._budget):
            feed = self._tokenizer.feed([inputs[place] for place in run])
            (logits,) = self._session.run([self._output], self._named(feed))
            for place, uncarried in zip(run, self._classifier.uncarried(logits, feed), strict=True):
                found[place] = uncarried
        return found

    def _named(self, feed: Feed) -> dict[str, NDArray[np.int64]]:
        named = {"input_ids": feed.ids, "attention_mask": feed.mask, "token_type_ids": feed.types}
        return {name: values for name, values in named.items() if name in self._inputs}

    def _try(self, graph: Path) -> None:
        """Reads two short claims, whose inputs differ in length.

        Raises:
            WrongSettings: the model fails, or returns values that are not numbers.
        """
        trials = [inputs for claim in _TRIAL if (inputs := self._classifier.claim_inputs(claim)) is not None]
        try:
            found = self._read([it for trial in trials for it in trial.inputs])
        except Exception as error:  # noqa: BLE001  onnxruntime's errors have no common base class
            raise WrongSettings(
                f"{graph}: fails to run ({error}); export model and tokenizer together, with dynamic axes for batch "
                "and sequence"
            ) from None
        if not found or np.isnan(np.concatenate(found)).any():
            raise WrongSettings(f"{graph}: returns no numbers for a plain sentence; export it again, in float32")


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


def _session(graph: Path, *, device: Device, threads: int) -> Any:
    providers = _providers(device)
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.enable_mem_pattern = False  # it would plan the memory again for every shape
    options.log_severity_level = 3  # errors only: it warns about every node that it places on the CPU
    try:
        session = ort.InferenceSession(str(graph), options, providers=providers)
    except Exception as error:  # noqa: BLE001  onnxruntime's errors have no common base class
        raise WrongSettings(f"{graph}: onnxruntime cannot load it ({error}); export it again") from None
    if providers[0] == _CUDA and session.get_providers()[0] != _CUDA:
        missing = "onnxruntime-gpu does not reach the GPU: driver, CUDA or cuDNN is missing (docs/quality/detector.md)"
        if device == "cuda":
            raise WrongSettings(f"MONITOR_DETECTOR__DEVICE is cuda, but {missing}")
        log.warning("the detector runs on the CPU: %s", missing)
    return session


def _providers(device: Device) -> list[str]:
    offered = ort.get_available_providers()
    if device == "cpu" or (device == "auto" and _CUDA not in offered):
        return [_CPU]
    if _CUDA not in offered:
        raise WrongSettings(
            "MONITOR_DETECTOR__DEVICE is cuda, but this onnxruntime does not support GPUs: install rag-monitor[gpu] "
            "as docs/quality/detector.md says, or set the device to auto"
        )
    ort.preload_dlls()  # CUDA and cuDNN from the nvidia wheels that the extra brings
    return [_CUDA, _CPU]


def _named_inputs(graph: Path, session: Any) -> frozenset[str]:
    """The names of the graph's inputs, all of which a detector can supply."""
    names = frozenset(it.name for it in session.get_inputs())
    if not {"input_ids", "attention_mask"} <= names or names - _INPUTS:
        raise WrongSettings(
            f"{graph}: has the inputs {', '.join(sorted(names))}; a detector has input_ids, attention_mask and "
            "optionally token_type_ids: export it for the task token-classification or text-classification"
        )
    return names


def _logits_name(graph: Path, session: Any) -> str:
    names = [it.name for it in session.get_outputs()]
    if _OUTPUT in names or len(names) == 1:
        return _OUTPUT if _OUTPUT in names else str(names[0])
    raise WrongSettings(f"{graph}: has the outputs {', '.join(names)} but no {_OUTPUT}: export it for its task")


def _build(folder: ModelFolder, *, window: int, prompt: str | None) -> str:
    """A short hash of everything that the scores depend on."""
    content = json.dumps([folder.digest, window, prompt])
    return hashlib.sha256(content.encode()).hexdigest()[:12]


def _runs(sizes: Sequence[int], budget: int) -> Iterator[list[int]]:
    """The positions of inputs to run together: similar sizes, longest first, at most `budget` tokens with padding."""
    order = sorted(range(len(sizes)), key=lambda place: -sizes[place])
    start = 0
    while start < len(order):
        end = start + max(1, budget // sizes[order[start]])
        yield order[start:end]
        start = end
