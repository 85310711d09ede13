"""Computes the five RAG adaptability similarities (Wei 2024; metrics.md §1) of a whole batch at once.

Each is a cosine in two readings. *Joined*: a list of documents counts as one text, whose vector is the mean of the
documents' vectors weighted by length. The windows of that text end at document boundaries, so a document that recurs
is embedded once, and never again as part of a longer text. *Maximum*: the highest cosine over the list, or over the
pairs if both sides are lists.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from monitor.assess.embed.batch import EmbeddedBatch, Indices, Ragged
from monitor.core.model import Metrics, Scores

Floats = NDArray[np.float32]


_SIDES = {"sdq": ("s", "q"), "sdrd": ("s", "rd"), "sda": ("s", "a"), "qrd": ("q", "rd"), "qa": ("q", "a")}


def adaptability(batch: EmbeddedBatch) -> list[Scores]:
    """The scores of each interaction, in order. A metric with a missing text is None, with the reason."""
    rows = batch.vectors
    question, answer = rows[batch.question], rows[batch.answer]
    supporting, retrieved = join(batch, batch.supporting), join(batch, batch.retrieved)
    joined = np.stack(
        [
            cosine(supporting, question),
            cosine(supporting, retrieved),
            cosine(supporting, answer),
            cosine(question, retrieved),
            cosine(question, answer),
        ],
        axis=1,
    )
    maximum = np.stack(
        [
            best(rows, batch.supporting, batch.question),
            best_pair(rows, batch.supporting, batch.retrieved),
            best(rows, batch.supporting, batch.answer),
            best(rows, batch.retrieved, batch.question),
            joined[:, 4],
        ],
        axis=1,
    )
    complete = (
        (batch.question > 0)
        & (batch.answer > 0)
        & (np.diff(batch.retrieved.starts) > 0)
        & (np.diff(batch.supporting.starts) > 0)
    ).tolist()
    return [
        _scores(a, b, {} if complete[i] else _undefined(batch, i))
        for i, (a, b) in enumerate(zip(joined.tolist(), maximum.tolist(), strict=True))
    ]


def cosine(a: Floats, b: Floats) -> Floats:
    """The cosines of unit (or zero) rows, shape (n,); 0 where either row is zero."""
    products: Floats = np.einsum("nd,nd->n", a, b)
    return np.clip(products, -1.0, 1.0, out=products)


def join(batch: EmbeddedBatch, lists: Ragged) -> Floats:
    """The unit vector of each list as one text, shape (n, dimensions); zero rows for empty lists."""
    count = len(lists.starts) - 1
    total = np.zeros((count, batch.vectors.shape[1]), np.float32)
    filled = np.flatnonzero(np.diff(lists.starts))
    if len(filled):
        weighted = batch.vectors[lists.items] * batch.lengths[lists.items, None]
        total[filled] = np.add.reduceat(weighted, lists.starts[filled], axis=0)
    norm = np.linalg.norm(total, axis=1, keepdims=True)
    np.divide(total, norm, out=total, where=norm > 0)
    return total


def best(rows: Floats, lists: Ragged, single: Indices) -> Floats:
    """The highest cosine of each list's members with the interaction's single text, shape (n,); 0 for empty lists."""
    result = np.zeros(len(single), np.float32)
    sizes = np.diff(lists.starts)
    filled = np.flatnonzero(sizes)
    if len(filled):
        each = cosine(rows[lists.items], rows[np.repeat(single, sizes)])
        result[filled] = np.maximum.reduceat(each, lists.starts[filled])
    return result


def best_pair(rows: Floats, left: Ragged, right: Ragged) -> Floats:
    """The highest cosine over all pairs of two lists, shape (n,); 0 where either is empty."""
    result = np.zeros(len(left.starts) - 1, np.float32)
    for i in np.flatnonzero((np.diff(left.starts) > 0) & (np.diff(right.starts) > 0)):
        a = rows[left.items[left.starts[i] : left.starts[i + 1]]]
        b = rows[right.items[right.starts[i] : right.starts[i + 1]]]
        result[i] = np.clip((a @ b.T).max(), -1.0, 1.0)
    return result


def _undefined(batch: EmbeddedBatch, i: int) -> dict[str, str]:
    """The metrics of interaction i that miss a text, each with the reason."""
    no_documents = batch.retrieved.starts[i] == batch.retrieved.starts[i + 1]
    no_support = batch.supporting.starts[i] == batch.supporting.starts[i + 1]
    missing = {
        "s": ("no_documents" if no_documents else "no_support") if no_support else None,
        "rd": "no_documents" if no_documents else None,
        "q": None if batch.question[i] else "empty_question",
        "a": None if batch.answer[i] else "empty_answer",
    }
    return {name: why for name, sides in _SIDES.items() if (why := missing[sides[0]] or missing[sides[1]])}


def _scores(joined: list[float], maximum: list[float], undefined: dict[str, str]) -> Scores:
    return Scores(joined=_metrics(joined, undefined), maximum=_metrics(maximum, undefined), undefined=undefined)


def _metrics(values: list[float], undefined: dict[str, str]) -> Metrics:
    if undefined:
        given = zip(_SIDES, values, strict=True)
        return Metrics(**{name: None if name in undefined else value for name, value in given})
    sdq, sdrd, sda, qrd, qa = values
    return Metrics(sdq=sdq, sdrd=sdrd, sda=sda, qrd=qrd, qa=qa)
