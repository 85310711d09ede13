"""In: interactions, in batches.

Out: one assessment for each, with its scores and verdict; beside the events, judgements of a sample by an LLM.
`assess_answer` assesses one answer in a notebook or a test.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from monitor.assess.answer import AnswerAssessment, assess_answer

__all__ = ["AnswerAssessment", "assess_answer"]


def __getattr__(name: str) -> object:
    """Loads the model's packages only for those who ask for `assess_answer`: commands that read never need them."""
    if name in __all__:
        return getattr(import_module("monitor.assess.answer"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
