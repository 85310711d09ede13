"""The scores of a conversation (Iwama and Takeuchi, 2025; metrics.md §4).

σ = [s₀ … s_k] are the scores of its turns, each from 0 to 5, and n is the most turns that it may take, k < n. A turn
whose answer says that it is not sure has the score 0 and counts as 0 here: a chatbot that needs a second question is
worth less than one that needs none. A conversation of nothing but zeros is `ItemState.UNSURE` and stays out of
averages; that is decided by whoever averages, not by these formulas. Without a score there is none: None.
"""

from __future__ import annotations

from collections.abc import Sequence


def wscore(scores: Sequence[float], n: int) -> float | None:
    """(n·s₀ + (n-1)·s₁ + … + (n-k)·s_k + Σᵢ₌₁^{n-k-1} (n-k-i)·s_k) / (n + (n-1) + … + 1), from 0 to 5.

    A turn is worth less than the one before it, and the last score stands for the turns that were not needed. For
    n = 3 and σ = [1, 5]: (3·1 + 2·5 + 1·5) / 6 = 3.

    Raises:
        ValueError: there are more scores than turns.
    """
    if len(scores) > n:
        raise ValueError(f"{len(scores)} scores of at most {n} turns")
    if not scores:
        return None
    filled = [*scores, *[scores[-1]] * (n - len(scores))]
    return sum((n - turn) * score for turn, score in enumerate(filled)) / (n * (n + 1) / 2)


def lscore(scores: Sequence[float]) -> int | None:
    """The number of turns; the fewer the better."""
    return len(scores) or None


def mscore(scores: Sequence[float]) -> float | None:
    """The best score of any turn."""
    return max(scores, default=None)
