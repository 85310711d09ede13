"""A detector on onnxruntime: any token classifier or NLI cross-encoder that a user has exported."""

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

from monitor.assess.detect.claim_windows import ClaimInputs, Input, Probabilities, conclude
from monitor.assess.detect.classifiers import Classifier, CrossEncoder, TokenClassifier
from monitor.assess.detect.detection import Claim, Detection
from monitor.assess.detect.model_folder import ModelFolder, model_folder
from monitor.assess.detect.tokenizer import Feed, PairTokenizer
from monitor.core.errors import Retriable, WrongSettings

Device = Literal["auto", "cpu", "cuda"]

_CPU, _CUDA = "CPUExecutionProvider", "CUDAExecutionProvider"
_INPUTS = {"input_ids", "attention_mask", "token_type_ids"}
_OUTPUT = "logits"
# Padded tokens of a run: for each thread, and on a GPU, where four inputs of 2,048 tokens still fit into 8 GB.
_TOKENS_A_THREAD, _TOKENS_ON_GPU = 256, 8_192
_HELD = 4_096  # inputs of several claims that wait to be sorted by length
# What is read while loading, so that a model that does not fit is found out then.
_TRIAL = (
    Claim(question="Which day?", answer="It opens on Monday.", documents=("The shop opens on Monday.",)),
    Claim(question="Who?", answer="Nobody.", documents=("It is closed.",)),
)
log = logging.getLogger(__name__)


class OnnxDetector:
    """What a user's model says about answers. Any number of threads may call at a time."""

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
            path: a folder as `model_folder` reads it.
            device: `auto` is the GPU where onnxruntime reaches one, else the CPU.
            threads: on the CPU; 0 is one per core.
            max_tokens: of one input, special ones included; fewer where the model reads fewer.
            max_inputs: claims that need more inputs are not judged.
            max_input_chars: nor those whose texts are longer together.
            prompt: what a token classifier was trained with, where it is not LettuceDetect.

        Raises:
            WrongSettings: the folder, the model or the device is not as it should be; the message says how to mend it.
        """
        folder = model_folder(path)
        window = min(max_tokens, folder.positions or max_tokens)
        tokenizer = PairTokenizer.from_file(folder.tokenizer, padding=folder.padding)
        if folder.vocabulary is not None and tokenizer.largest >= folder.vocabulary:
            raise WrongSettings(
                f"{folder.tokenizer}: has tokens up to {tokenizer.largest}, the model knows {folder.vocabulary} only: "
                "they do not belong together; export both again"
            )
        self._classifier: Final = _classifier(folder, tokenizer, window=window, max_inputs=max_inputs, prompt=prompt)
        self._tokenizer: Final = tokenizer
        self._max_input_chars: Final = max_input_chars
        # Never onnxruntime's own 0: it would pin its threads to cores, and two replicas to the same ones.
        threads = threads or os.cpu_count() or 1
        self._session: Final = _session(folder.graph, device=device, threads=threads)
        self._inputs: Final = _named_inputs(folder.graph, self._session)
        self._output: Final = _logits_name(folder.graph, self._session)
        self.device: Final = "cuda" if self._session.get_providers()[0] == _CUDA else "cpu"
        self._budget: Final = _TOKENS_ON_GPU if self.device == "cuda" else _TOKENS_A_THREAD * max(threads, 2)
        self.model: Final = f"{folder.name}/{_build(folder, window=window, prompt=prompt)}"
        self._try(folder.graph)

    def detect(self, claims: Sequence[Claim]) -> list[Detection | None]:
        """One detection per claim, in order; None where nothing can be said.

        That is: no documents, an empty answer, texts too long, or a model that gave no number.

        Raises:
            Retriable: the model could not be run for now (out of memory).
        """
        found: list[Detection | None] = [None] * len(claims)
        for group in self._groups(claims):
            inputs = [it for _, reading in group for it in reading.inputs]
            try:
                uncarried = iter(self._read(inputs))
            except Exception as error:  # onnxruntime's have no base of their own
                if len(claims) == 1:
                    raise Retriable(f"the detector {self.model} could not be run: {error}") from error
                return self._one_by_one(claims)
            for number, reading in group:
                found[number] = conclude(reading, list(islice(uncarried, reading.count)))
        return found

    def _one_by_one(self, claims: Sequence[Claim]) -> list[Detection | None]:
        """What can be said where a run failed: one claim that always fails must not hold up the others for ever."""
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
        """What there is to read, with the number of its claim, some thousand inputs at a time."""
        group: list[tuple[int, ClaimInputs]] = []
        held = 0
        for number, claim in enumerate(claims):
            if sum(map(len, (claim.question, claim.answer, *claim.documents))) > self._max_input_chars:
                continue
            reading = self._classifier.claim_inputs(claim)
            if reading is None:
                continue
            group.append((number, reading))
            held += reading.count
            if held >= _HELD:
                yield group
                group, held = [], 0
        if group:
            yield group

    def _read(self, inputs: Sequence[Input]) -> list[Probabilities]:
        """What the model says of each input."""
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
            WrongSettings: that fails, or gives no numbers.
        """
        readings = [reading for claim in _TRIAL if (reading := self._classifier.claim_inputs(claim)) is not None]
        try:
            found = self._read([it for reading in readings for it in reading.inputs])
        except Exception as error:  # noqa: BLE001  onnxruntime's have no base of their own
            raise WrongSettings(
                f"{graph}: cannot be run ({error}); export model and tokenizer together, with axes for batch and "
                "sequence that are not fixed"
            ) from None
        if not found or np.isnan(np.concatenate(found)).any():
            raise WrongSettings(f"{graph}: gives no numbers for a plain sentence; export it again, in float32")


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
    options.enable_mem_pattern = False  # it would plan memory anew for every shape
    options.log_severity_level = 3  # errors only: it warns of every node that it places on the CPU
    try:
        session = ort.InferenceSession(str(graph), options, providers=providers)
    except Exception as error:  # noqa: BLE001  onnxruntime's have no base of their own
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
            "MONITOR_DETECTOR__DEVICE is cuda, but this onnxruntime knows no GPU: install rag-monitor[gpu] "
            "as docs/quality/detector.md says, or set the device to auto"
        )
    ort.preload_dlls()  # CUDA and cuDNN from the nvidia wheels that the extra brings
    return [_CUDA, _CPU]


def _named_inputs(graph: Path, session: Any) -> frozenset[str]:
    """The inputs that the graph asks for, all of which are known here."""
    names = frozenset(it.name for it in session.get_inputs())
    if not {"input_ids", "attention_mask"} <= names or names - _INPUTS:
        raise WrongSettings(
            f"{graph}: asks for {', '.join(sorted(names))}; a detector asks for input_ids, attention_mask and, maybe, "
            "token_type_ids: export it for the task token-classification or text-classification"
        )
    return names


def _logits_name(graph: Path, session: Any) -> str:
    names = [it.name for it in session.get_outputs()]
    if _OUTPUT in names or len(names) == 1:
        return _OUTPUT if _OUTPUT in names else str(names[0])
    raise WrongSettings(f"{graph}: gives {', '.join(names)}, none of which is {_OUTPUT}: export it for its task")


def _build(folder: ModelFolder, *, window: int, prompt: str | None) -> str:
    """Short hash of everything that the scores depend on."""
    read_so = json.dumps([folder.digest, window, prompt])
    return hashlib.sha256(read_so.encode()).hexdigest()[:12]


def _runs(sizes: Sequence[int], budget: int) -> Iterator[list[int]]:
    """Places of inputs to run together: of like size, longest first, `budget` tokens at most with their padding."""
    order = sorted(range(len(sizes)), key=lambda place: -sizes[place])
    start = 0
    while start < len(order):
        end = start + max(1, budget // sizes[order[start]])
        yield order[start:end]
        start = end
