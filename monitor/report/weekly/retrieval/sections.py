"""The sections on retrieval: diagnoses, questions that nothing retrieved answers, and documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeAlias
from urllib.parse import urlencode

from monitor.core.diagnosis import Diagnosis
from monitor.core.reason_words import DIAGNOSIS_WORDS, diagnosis_name
from monitor.core.text.plain import plain, plural
from monitor.report.weekly.elements import Columns, Item, Section, Table, table_of
from monitor.report.weekly.wording import NOTHING, TWO_WEEKS, chance, counted, share, text, thousands

Link: TypeAlias = Callable[[str, str], str | None]  # the page of an answer, by app and id
_MEANINGS = " ".join(f"{diagnosis_name(each).capitalize()}: {DIAGNOSIS_WORDS[each]}." for each in Diagnosis)
_ALIKE = "Missed of questions alike"
_GROUPS: Columns = {
    "Like this question": lambda group: plain(group["question"]) if group["question"] else "(erased)",
    "Missed": lambda group: f"{group['missed']['count']:,}",
    "Refused": thousands("refusal"),
    "Self-generated": thousands("self_generated"),
    "Wordings": thousands("questions"),
    _ALIKE: lambda group: f"{group['alike_missed']:,} of {group['alike']:,}" if group.get("alike") else NOTHING,
    "Share": lambda group: share(group["missed"]),
    "q": lambda group: NOTHING if group["q"] is None else chance("q", group["q"]),
}


def named_document(found: Item) -> str:
    """Its id; without one of its own, and unless they are erased, its first words."""
    words = found.get("first_words")
    return f"“{plain(words)}”" if words else str(found["document"])


_IDLE: Columns = {"Document": named_document, "Retrieved": thousands("retrieved")}
_SUSPECTS: Columns = {
    "Document": named_document,
    "Self-generated": lambda found: counted(found["with_it"]),
    "Share with it": lambda found: share(found["with_it"]),
    "Share without it": lambda found: share(found["without_it"]),
    "Lift": lambda found: NOTHING if found["lift"] is None else f"{found['lift']:.1f}",
    "q": lambda found: chance("q", found["q"]),
}


def retrieval_sections(content: Item, link: Link) -> list[Section]:
    """The sections in reading order; reports of earlier releases and weeks without a diagnosis have the last alone."""
    diagnoses, lacking = content.get("diagnoses"), content.get("lacking")
    return [
        *([] if diagnoses is None else [_diagnoses(content, diagnoses)]),
        *([] if lacking is None else [_lacking(content, lacking, link)]),
        _documents(content["documents"]),
    ]


def listed(content: Item, diagnosis: Diagnosis) -> str:
    """The path of the list of the week's answers with that diagnosis."""
    since, until = (content["week"][end].removesuffix("T00:00:00Z") for end in ("start", "end"))
    query = {"app": content["app"], "since": since, "until": until, "diagnosis": diagnosis.value}
    return f"/interactions?{urlencode(query, safe=':', errors='replace')}"


def _diagnoses(content: Item, found: Item) -> Section:
    notes = []
    answers = content["verdicts"]["answers"]
    if found["diagnosed"] < answers:
        notes.append(f"{found['diagnosed']:,} of {answers:,} answers have a diagnosis; the shares are of these.")
    if not found["before"]:
        notes.append("The week before has no diagnoses to compare with.")
    elif found["rates"][Diagnosis.HEALTHY]["change"] is None:
        days = f"{found['days_before']} of the days before and {found['days']} of this week"
        notes.append(f"Not compared with the week before, since only {days} have diagnoses.")
    rates = [{"name": diagnosis_name(each).capitalize(), **found["rates"][each.value]} for each in Diagnosis]
    return Section(
        title="Retriever or generator",
        words="Whether the retriever or the generator is at fault, as the retrieved chunks tell; intervals and changes "
        f"as for verdicts. {_MEANINGS}",
        notes=notes or [f"All {plural(answers, 'answer')} have a diagnosis."],
        tables=(
            table_of(
                rates,
                {"Diagnosis": text("name"), **TWO_WEEKS},
                caption="Diagnoses of the week",
                links=[
                    listed(content, each) if rates[n]["this"]["count"] else None for n, each in enumerate(Diagnosis)
                ],
            ),
        ),
    )


def _lacking(content: Item, found: Item, link: Link) -> Section:
    return Section(
        title="Questions that nothing retrieved answers",
        words="Questions that no retrieved chunk answers, by the diagnosis, grouped by meaning: the knowledge base "
        "lacks the answer, or the retriever does not find it. Missed counts answers. q, where shown, bounds the chance "
        "of such a group where questions are missed at random; what is asked word for word counts as one question for "
        "it.",
        notes=list(_lacking_notes(found)),
        tables=_lacking_tables(content, found, link),
    )


def _lacking_notes(found: Item) -> Iterator[str]:
    if not found["missed"]["count"]:
        yield f"The documents answer the question in each of the {plural(found['answers_read'], 'answer')} read."
    else:
        questions = plural(found["questions"], "question")
        yield f"{counted(found['missed'])} answers are of such questions: {questions} in different words."
    if found["answers_read"] < found["answers"]:
        read = f"{found['answers_read']:,} of {found['answers']:,} answers"
        yield f"{read} were read: those with a diagnosis, not erased, evenly over the week."
    if found["questions_grouped"] < found["questions"]:
        yield f"The {found['questions_grouped']:,} questions asked most often were grouped."
    if not found["by_meaning"]:
        yield "Questions are grouped word for word only: the embedding model was out of reach."


def _lacking_tables(content: Item, found: Item, link: Link) -> tuple[Table, ...]:
    if not found["groups"]:
        return ()
    caption = "Missed most often, by the most typical question"
    links = [link(content["app"], group["id"]) for group in found["groups"]]
    empty = {
        "q": all(group["q"] is None or chance("q", group["q"]) == "q = 1" for group in found["groups"]),
        _ALIKE: not any(group.get("alike", 0) > 1 for group in found["groups"]),
    }
    columns = {name: cell for name, cell in _GROUPS.items() if not empty.get(name)}
    more = found["found"] - len(found["groups"])
    table = table_of(found["groups"], columns, caption=caption, links=links)
    return (replace(table, more=f"{plural(more, 'more group')} not shown." if more > 0 else ""),)


def _documents(found: Item) -> Section:
    least, idle, suspects = found["least_retrievals"], found["supporting_nothing"], found["self_generated"]
    notes, tables = [], []
    if found["answers_read"] < found["answers"]:
        notes.append(f"{found['answers_read']:,} of {found['answers']:,} answers were read, evenly over the week.")
    if not found["retrieved_often"]:
        notes.append(f"No document was retrieved {least} times, too few to tell whether any supports nothing.")
    elif not idle["found"]:
        notes.append(f"Each of the {found['retrieved_often']:,} documents retrieved often supports some answer.")
    else:
        caption = f"Retrieved at least {least} times, and never behind an answer"
        tables.append(_with_more(table_of(idle["documents"], _IDLE, caption=caption), idle))
    if suspects["found"]:
        caption = "Documents behind self-generated answers"
        tables.append(_with_more(table_of(suspects["documents"], _SUSPECTS, caption=caption), suspects))
    else:
        compared = f"Of {suspects['compared']:,} documents compared"
        notes.append(f"{compared}, none goes clearly together with self-generated answers.")
    return Section(
        title="Documents",
        words="An answer rests on a document if it uses a chunk of it, if a passage of it supports a sentence at least "
        "in part, or if the generator named it. q is from Fisher's test: answers with the document are self-generated "
        "more often than the others. Documents without an id are shown by their first words.",
        notes=notes,
        tables=tables,
    )


def _with_more(table: Table, found: Item) -> Table:
    more = found["found"] - len(found["documents"])
    return replace(table, more=f"{plural(more, 'more such document')} not shown." if more else "")
