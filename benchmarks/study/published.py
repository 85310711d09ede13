"""The published figures: Wei, *RAG Adaptability Metric Study*, National Taiwan University, 2024.

They are copied from its tables as in ../shared/metrics.md §1. Positive is a question that the documents cannot answer.
Unless noted: SQuAD 2.0, 1,485 questions of which 493 cannot be answered, GPT-3.5-Turbo, embeddings of 2024.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Published(NamedTuple):
    """A row of the study's threshold table."""

    accuracy: float
    precision: float
    recall: float
    f1: float
    f2: float


TAUS: Final = (0.70, 0.75, 0.80, 0.85)
BALANCED_TAU: Final = 0.80  # the threshold that the study chooses
SQUAD_ANSWERABLE: Final = 992
SQUAD_UNANSWERABLE: Final = 493
CLOUD_ANSWERABLE: Final = 153  # on AWS
CLOUD_UNANSWERABLE: Final = 247  # on GCP and IBM

THRESHOLDS: Final = {
    ("primary", 0.70): Published(0.8343, 1.0, 0.5030, 0.6694, 0.5586),
    ("primary", 0.75): Published(0.8337, 0.9523, 0.5274, 0.6789, 0.5791),
    ("primary", 0.80): Published(0.7414, 0.6122, 0.6085, 0.6104, 0.6093),
    ("primary", 0.85): Published(0.4943, 0.3829, 0.8519, 0.5283, 0.6843),
    ("primary + QRD", 0.70): Published(0.8350, 1.0, 0.5050, 0.6711, 0.5604),
    ("primary + QRD", 0.75): Published(0.7987, 0.7383, 0.6065, 0.6659, 0.6290),
    ("primary + QRD", 0.80): Published(0.7111, 0.5530, 0.6876, 0.6130, 0.6557),
    ("primary + QRD", 0.85): Published(0.4424, 0.3633, 0.9026, 0.5180, 0.6960),
}
COMBINATION_F1: Final = {  # at τ = .80
    "primary": 0.6104,
    "primary + QRD": 0.6130,
    "primary + QA": 0.4760,
    "primary + QRD + QA": 0.5007,
}
RECALL_ALONE: Final = {
    0.70: {"QRD": 0.2617, "SDRD": 0.0325, "SDA": 0.2880, "SDQ": 0.2819},
    0.75: {"QRD": 0.3529, "SDRD": 0.0365, "SDA": 0.3103, "SDQ": 0.3306},
    0.80: {"QRD": 0.6370, "SDRD": 0.0629, "SDA": 0.3752, "SDQ": 0.4564},
    0.85: {"QRD": 0.7221, "SDRD": 0.1258, "SDA": 0.5172, "SDQ": 0.6490},
}
GENERATORS: Final = {  # at τ = .80
    "gpt-3.5-turbo": Published(0.7414, 0.6122, 0.6085, 0.6104, 0.6093),
    "gemini-pro": Published(0.6923, 0.5308, 0.6471, 0.5832, 0.6199),
    "claude-3-haiku": Published(0.7933, 0.7625, 0.5274, 0.6235, 0.5620),
    "llama3-8b": Published(0.7347, 0.5732, 0.6673, 0.6167, 0.6461),
    "gpt-4o": Published(0.6681, 0.5474, 0.8636, 0.6701, 0.7742),
}
CLOUD_AUC: Final = 0.8836
# Among 213 unanswerable questions with 39 refusals.
REFUSAL_RECALL: Final = 0.82
REFUSAL_PRECISION: Final = 0.55


def flag_everything_f1(answerable: int, unanswerable: int) -> float:
    """The F1 of calling every question unanswerable: precision is their share, recall is 1."""
    return 2 * unanswerable / (2 * unanswerable + answerable)
