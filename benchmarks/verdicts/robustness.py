"""Measures how courtesy, citations and markup in answers change the ranking, when added regardless of the label.

    python benchmarks/verdicts/robustness.py [--json PATH] [--short]

Each development file is assessed as it is (except for the capital and the full stop that some answers lack) and with
its answers changed in one way at a time, then in all of them at once. The table has the AUC of P(self-generated) for
self-generated against grounded, and how far it falls; goal: .02 at most.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from benchmarks.figures import finish, options
from benchmarks.labelled import DATA, assess, cached_pipeline, read
from monitor.core.model import Verdict
from monitor.core.text.sentences import sentences
from monitor.review.evaluate.statistics import auc

SEED = 20261121
FILES = ("dev/attribution", "dev/longform", "dev/dialogue", "dev/expert", "dev/short_answers")
SHORT_ROWS = 120
MOST_FALL = 0.02
BEFORE = (
    "Sure, happy to help with that!",
    "Great question!",
    "Thanks for reaching out.",
    "Of course, here is what I found:",
    "Hello! Let me look into this for you.",
    "Based on the documents, here is a summary.",
)
AFTER = (
    "I hope this helps!",
    "Let me know if you have any other questions.",
    "Please note that details may vary.",
    "Feel free to ask if anything is unclear.",
    "I may be missing some details, so please double-check.",
    "If you need more information, please contact support.",
)

_LONGER_WORD = re.compile(r"\b[A-Za-z]{5,}\b")

Change = Callable[[str, random.Random], str]


def with_capital_and_stop(answer: str) -> str:
    """Adds the capital and the full stop that some answers lack, which mark where an answer begins and ends."""
    answer = answer.strip()
    return answer[:1].upper() + answer[1:] + ("" if answer[-1:] in ".!?…\"'" else ".")


def courtesy(answer: str, draw: random.Random) -> str:
    return f"{draw.choice(BEFORE)} {answer} {draw.choice(AFTER)} {draw.choice(AFTER)}"


def citations(answer: str, draw: random.Random) -> str:
    """A mark before the full stop of each sentence."""
    return " ".join(re.sub(r"([.!?])?$", rf" [{draw.randint(1, 9)}]\1", s, count=1) for s in sentences(answer))


def markdown(answer: str, draw: random.Random) -> str:
    """A heading, and some longer words bold or in italics."""

    def mark(word: re.Match[str]) -> str:
        return draw.choice(("**{}**", "*{}*", "{}", "{}", "{}", "{}")).format(word[0])

    return f"## Answer\n\n{_LONGER_WORD.sub(mark, answer)}"


def lists(answer: str, draw: random.Random) -> str:
    """Each sentence an item."""
    numbered = draw.choice((True, False))
    return "\n".join(f"{f'{i}.' if numbered else '-'} {s}" for i, s in enumerate(sentences(answer), 1))


def links(answer: str, draw: random.Random) -> str:
    page = draw.randint(100, 999)
    return f"{answer} See [the documentation](https://docs.example.com/articles/{page}) or https://example.com/help/{page}."


def code(answer: str, draw: random.Random) -> str:
    return f"{answer}\n\n```sh\ntool show --id {draw.randint(100, 999)} --output json\n```\n"


def everything(answer: str, draw: random.Random) -> str:
    for change in (citations, lists, links, code, courtesy):
        answer = change(answer, draw)
    return answer


CHANGES: tuple[Change, ...] = (courtesy, citations, markdown, lists, links, code, everything)


def main() -> None:
    arguments = options(__doc__, f"the first {SHORT_ROWS} rows of each file")
    if not DATA.is_dir():
        print(f"no labelled data at {DATA}: set MONITOR_DATA_DIR")
        return
    figures: dict[str, dict[str, float]] = {}
    names = ["as it is", *(change.__name__ for change in CHANGES)]
    print(f"{'file':20}" + "".join(f"{name:>18}" for name in names))
    with cached_pipeline() as pipeline:
        for name in FILES:
            rows = [row for row in read(name) if row.label is not Verdict.REFUSAL]
            rows = [
                replace(row, interaction=replace(row.interaction, answer=with_capital_and_stop(row.interaction.answer)))
                for row in rows[: SHORT_ROWS if arguments.short else None]
            ]
            made_up = np.array([row.label is Verdict.SELF_GENERATED for row in rows])
            found: dict[str, float] = {}
            for label, change in zip(names, (None, *CHANGES), strict=True):
                draw = random.Random(SEED)
                changed = (
                    rows
                    if change is None
                    else [
                        replace(row, interaction=replace(row.interaction, answer=change(row.interaction.answer, draw)))
                        for row in rows
                    ]
                )
                scores = np.array([a.probabilities.self_generated for a in assess(pipeline, changed)])
                found[label] = auc(scores, made_up) or 0.0
            figures[name] = found
            plain = found["as it is"]
            print(f"{name:20}{plain:18.3f}" + "".join(f"{found[n]:10.3f} ({found[n] - plain:+.3f})" for n in names[1:]))
    fall = max(found["as it is"] - value for found in figures.values() for value in found.values())
    print(f"\nlargest fall {fall:.3f} (goal: {MOST_FALL} at most)")
    finish({"files": figures, "largest_fall": fall}, seed=SEED, path=arguments.json)


if __name__ == "__main__":
    main()
