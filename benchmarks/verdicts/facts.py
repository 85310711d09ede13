"""Measures what numbers, dates, names and contradictions say about an answer, on the labelled files of dev.

    python benchmarks/verdicts/facts.py [--json PATH] [--short]

For each file: the share of grounded and of self-generated answers with at least one number, date or name that is in no
document and not in the question, or with at least one sentence that contradicts the document sentence that shares most
words with it. *Ratio* is the likelihood ratio, the share among self-generated over that among grounded, with half a row
added to each count; *ratio without* is the ratio for answers in which nothing was found. The cost follows. The test
files are not read. Needs MONITOR_DATA_DIR (default ../shared/data).
"""

from __future__ import annotations

import gzip
import json
import os
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.figures import finish, options
from monitor.assess.score.facts import FactIndex, FactKind, facts, missing
from monitor.assess.score.facts.negation import contradicts
from monitor.core.text.sentences import sentences

DATA = Path(os.environ.get("MONITOR_DATA_DIR", "../shared/data"))
SHORT_ROWS = 60
CONTRADICTION = "contradiction"
SIGNS = (*(str(kind) for kind in FactKind), "any fact", CONTRADICTION)
REPEATS = 5
TIMED_ROWS = 100  # few enough for the cache of documents
_WORD = re.compile(r"\w+")

_DENIED = re.compile(r"\b(is|are|was|were|can|does|do|will|did|has|have)(?: not|n't)\b")
_TURNED = {"before": "after", "after": "before", "more": "less", "increase": "decrease", "first": "last"}

Row = dict[str, Any]


def rows(path: Path, most: int | None) -> list[Row]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines][:most]


def nearest(words: set[str], candidates: list[tuple[set[str], str]]) -> str:
    """The candidate that shares most words with `words`; the shortest if several do."""
    best = max(candidates, key=lambda c: (len(words & c[0]), -len(c[0])), default=(set(), ""))
    return best[1]


def words_of(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))


def contradicted(row: Row) -> bool:
    candidates = [(words_of(s), s) for document in row["retrieved_documents"] for s in sentences(document)]
    return any(contradicts(s, nearest(words_of(s), candidates)) for s in sentences(row["answer"]))


def signs_of(row: Row) -> set[str]:
    found = {
        str(fact.kind) for fact in missing(row["answer"], FactIndex.of([*row["retrieved_documents"], row["question"]]))
    }
    if found:
        found.add("any fact")
    if contradicted(row):
        found.add(CONTRADICTION)
    return found


def ratio(found: int, of: int, found_grounded: int, of_grounded: int) -> float:
    """The likelihood ratio, with half a row added to each cell so that it stays finite."""
    return ((found + 0.5) / (of + 1)) / ((found_grounded + 0.5) / (of_grounded + 1))


def table(labelled: list[Row]) -> dict[str, dict[str, float | int | None]]:
    found = [(row["label"] == "grounded", signs_of(row)) for row in labelled if row["label"] != "refusal"]
    grounded = [signs for is_grounded, signs in found if is_grounded]
    invented = [signs for is_grounded, signs in found if not is_grounded]
    figures: dict[str, dict[str, float | int | None]] = {}
    for sign in SIGNS:
        good, bad = sum(sign in signs for signs in grounded), sum(sign in signs for signs in invented)
        figures[sign] = {
            "grounded": good / len(grounded) if grounded else None,
            "self_generated": bad / len(invented) if invented else None,
            "ratio": ratio(bad, len(invented), good, len(grounded)) if invented else None,
            "ratio_without": ratio(len(invented) - bad, len(invented), len(grounded) - good, len(grounded))
            if invented
            else None,
        }
    return figures


def planted(labelled: list[Row]) -> tuple[int, int]:
    """Document sentences with their "not" removed or one word replaced by its opposite: how many, how many detected."""
    changed = seen = 0
    for document in {d for row in labelled for d in row["retrieved_documents"]}:
        for sentence in sentences(document):
            other = _DENIED.sub(r"\1", sentence, count=1)
            if other == sentence:
                other = next((re.sub(rf"\b{a}\b", b, sentence) for a, b in _TURNED.items() if f" {a} " in sentence), "")
            if other and len(sentence.split()) >= 6:
                changed += 1
                seen += contradicts(other, sentence)
    return changed, seen


def cost(labelled: list[Row]) -> dict[str, float]:
    """Microseconds, the best of REPEATS: the facts of an answer of about 150 words, its index with documents known."""
    chosen = [row for row in labelled if 130 <= len(row["answer"].split()) <= 170][:TIMED_ROWS]
    answers = [row["answer"] for row in chosen]
    texts = [[*row["retrieved_documents"], row["question"]] for row in chosen]
    indices = [FactIndex.of(each) for each in texts]
    return {
        "facts": best_of(lambda i: facts(answers[i]), len(chosen)),
        "index_remembered": best_of(lambda i: FactIndex.of(texts[i]), len(chosen)),
        "missing": best_of(lambda i: missing(answers[i], indices[i]), len(chosen)),
    }


def best_of(work: Callable[[int], object], count: int) -> float:
    """Microseconds of the fastest of REPEATS calls."""
    times = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        for i in range(count):
            work(i)
        times.append((time.perf_counter() - began) / max(1, count) * 1e6)
    return min(times)


def show(results: dict[str, dict[str, dict[str, float | int | None]]]) -> None:
    print(f"{'file':20}{'at least one':16}{'grounded':>10}{'self-gen.':>11}{'ratio':>8}{'ratio without':>15}")
    for file, signs in results.items():
        for sign, row in signs.items():
            cells = ["–" if v is None else f"{v:.3f}" for v in row.values()]
            print(f"{file:20}{sign:16}{cells[0]:>10}{cells[1]:>11}{cells[2]:>8}{cells[3]:>15}")


def main() -> None:
    arguments = options(__doc__, f"the first {SHORT_ROWS} rows of each file")
    if not DATA.is_dir():
        print(f"no labelled data at {DATA}: set MONITOR_DATA_DIR")
        return
    most = SHORT_ROWS if arguments.short else None
    files = {path.name[: -len(".jsonl.gz")]: rows(path, most) for path in sorted(DATA.glob("dev/*.jsonl.gz"))}
    results = {name: table(labelled) for name, labelled in files.items()}
    show(results)
    changed, seen = planted([row for labelled in files.values() for row in labelled])
    print(
        f"\n{seen} of {changed} document sentences with a changed negation or opposite are detected as contradictions"
    )
    costs = cost(files["longform"])
    print("\nmicroseconds for an answer of about 150 words: " + ", ".join(f"{n} {v:.1f}" for n, v in costs.items()))
    finish(
        {"signs": results, "planted": changed, "planted_seen": seen, "microseconds": costs},
        seed=None,
        path=arguments.json,
    )


if __name__ == "__main__":
    main()
