"""Measures what completing follow-up questions does to `retrieval_off_question`, and which questions it touches.

    python benchmarks/chunks/follow_ups.py [--json PATH] [--short]

Conversations: forty written by hand (`benchmarks/chunks/follow_up_cases.py`, nine languages), and those that
`benchmarks/chunks/conversations.py` makes by rule from SQuAD 2.0 and the cloud FAQ. The document is on the question, so
a QRD below the profile's threshold is wrong: *wrong* is the share of those, as asked and as read. *off* is the share
below the threshold with a document of another conversation, where that is right; *whole* the same two for the question
before it was split. The method was chosen on one half of the conversations; the figures are of the other.

Standing questions: each question of five files, put behind an earlier turn of its file. *touched* is the share that was
read otherwise than it stands. Those that nobody understands alone ("how much does this feature cost?") do not count:
people read all that were touched, and `benchmarks/chunks/leaning_questions.txt` names them by file and id.

Last, the time that it takes to tell whether a question leans.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

import numpy as np

from benchmarks.chunks.conversations import Conversation, by_hand, interactions, lines, made, rotated
from benchmarks.figures import finish, options
from benchmarks.labelled import DATA
from monitor.assess.classify.profile import compared, load_profile
from monitor.assess.conversation.leaning import cue_of
from monitor.assess.conversation.memory import RecentTurns
from monitor.assess.conversation.read import standalone_questions
from monitor.assess.embed.batch import embed_batch
from monitor.assess.embed.minilm import MiniLMEmbedder
from monitor.assess.score.adaptability import adaptability
from monitor.core.model import Interaction, Origin, Support
from monitor.core.settings.load import load_settings

REPORTED = 1  # the half
MOST, SHORT = 600, 30  # conversations of each source
BUILDS = {"fp32": "minilm", "int8": "minilm-int8"}
FILES = (
    "questions/squad2",
    "questions/natural_questions_unanswerable",
    "questions/cloud_faq",
    "dev/attribution",
    "dev/longform",
    "dev/expert",
    "dev/natural_questions",
    "dev/short_answers",
)
LEANING = Path(__file__).with_name("leaning_questions.txt")
_NOTHING = Support(origin=Origin.EXTRACTIVE, documents=())


def read_as(found: Sequence[Conversation]) -> list[str]:
    """The question of each conversation as the program reads it."""
    readings = []
    for number, conversation in enumerate(found):
        standalone = standalone_questions(interactions(conversation, number), RecentTurns())[-1]
        readings.append(conversation.question if standalone is None else standalone.text)
    return readings


def below(questions: Sequence[str], documents: Sequence[str], embedder: MiniLMEmbedder, profile_name: str) -> float:
    """The share of questions whose QRD is below the profile's threshold."""
    profile = load_profile(profile_name, embedder.model, embedder.token_model)
    pairs = [
        interactions(Conversation("", (), question, document, leans=True, half=0), number)[0]
        for number, (question, document) in enumerate(zip(questions, documents, strict=True))
    ]
    scores = adaptability(embed_batch(pairs, [_NOTHING] * len(pairs), embedder))
    qrd = [compared(profile.metrics, each).qrd for each in scores]
    return float(np.mean([value is not None and value < profile.metrics.qrd.threshold for value in qrd]))


def reached(found: Sequence[Conversation], embedder: MiniLMEmbedder, profile: str) -> dict[str, float | int]:
    documents, others = [c.document for c in found], rotated(found)
    asked, read, whole = [c.question for c in found], read_as(found), [c.whole or c.question for c in found]
    return {
        "conversations": len(found),
        "recognised": float(np.mean([cue_of(question) is not None for question in asked])),
        **{
            f"{what}_{name}": below(questions, given, embedder, profile)
            for name, questions in (("asked", asked), ("read", read), ("whole", whole))
            for what, given in (("wrong", documents), ("off", others))
        },
    }


def standing(name: str, most: int | None) -> dict[str, float | int]:
    """How many questions of a file that stand alone are read otherwise behind an earlier turn."""
    leaning = {line.split("\t")[1] for line in LEANING.read_text().splitlines() if line.startswith(f"{name}\t")}
    rows = {row["question"]: row["id"] for row in lines(name)}
    questions = [question for question, id_ in rows.items() if id_ not in leaning][:most]
    earlier = [questions[i - 1 if i % 2 else i - len(questions) // 2] for i in range(len(questions))]  # near, and far
    touched = sum(
        standalone_questions(_after(said, question), RecentTurns())[-1] is not None
        for said, question in zip(earlier, questions, strict=True)
    )
    return {
        "questions": len(questions),
        "left_out": len(leaning),
        "touched": touched,
        "untouched_share": 1 - touched / len(questions),
    }


def _after(said: str, question: str) -> list[Interaction]:
    return interactions(Conversation("", (said,), question, "", leans=False, half=0), 0)


def microseconds(questions: Sequence[str]) -> float:
    begun = perf_counter()
    for question in questions:
        cue_of(question)
    return (perf_counter() - begun) / len(questions) * 1e6


def main() -> None:
    arguments = options(__doc__, f"{SHORT} conversations of each source, one build of the encoder")
    hand = by_hand()
    ours = [c for c in hand if c.leans]
    chosen = {f"by hand, half {half}": [c for c in ours if c.half == half] for half in (0, REPORTED)}
    figures: dict[str, object] = {}
    if DATA.is_dir():
        rows = [row for row in made(SHORT if arguments.short else MOST) if row.half == REPORTED]
        chosen |= {source: [row for row in rows if row.source == source] for source in ("squad2", "cloud_faq")}
    else:
        print(f"no labelled data at {DATA}: set MONITOR_DATA_DIR; only the conversations written by hand are measured")
    for build, profile in BUILDS.items():
        if arguments.short and build != "fp32":
            continue
        embedder = MiniLMEmbedder(build, cache_dir=load_settings().state_dir / "cache")
        print(f"\nFollow-ups, profile {profile}")
        for name, found in chosen.items():
            values = reached(found, embedder, profile)
            figures[f"{profile}/{name}"] = values
            print(f"  {name:16} {values['conversations']:4} conversations, recognised {values['recognised']:.3f}")
            for what in ("asked", "read", "whole"):
                print(f"    {what:6} wrong {values[f'wrong_{what}']:.3f}   off {values[f'off_{what}']:.3f}")
    untouched = [cue_of(c.question) is None for c in hand if not c.leans]
    print(f"\nStanding questions\n  {'by hand':42} {sum(untouched)} of {len(untouched)} untouched")
    figures["by hand/standing"] = {"questions": len(untouched), "touched": len(untouched) - sum(untouched)}
    if DATA.is_dir():
        for name in FILES:
            found = standing(name, 300 if arguments.short else None)
            figures[f"{name}/standing"] = found
            print(f"  {name:42} {found['untouched_share']:.4f} of {found['questions']:,} untouched")
        every = [row["question"] for row in lines("questions/squad2")][: 300 if arguments.short else None]
        figures["microseconds"] = microseconds(every)
        print(f"\n{figures['microseconds']:.0f} µs to tell whether a question leans")
    finish(figures, seed=None, path=arguments.json)


if __name__ == "__main__":
    main()
