"""Makes golden items of interactions."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from monitor.app.wiring.application import Application
from monitor.core.errors import WrongSettings
from monitor.core.model import Mark, Verdict
from monitor.core.text.content_id import content_id
from monitor.core.text.interaction_name import spellings
from monitor.core.text.plain import readable
from monitor.probe.golden import LONGEST_ID, GoldenItem, NotGolden, Source, golden_item
from monitor.store.review.newest_labels import newest_labels


def item_of(application: Application, name: str, *, reference: str | None) -> GoldenItem:
    """The golden item of the interaction `APP/ID`: its question, and what a right answer to it says.

    Its id is `APP/ID`, or a hash of that if it is long. A follow-up question is taken as it was read, complete. Without
    `reference` it is the interaction's own answer where somebody labelled it grounded and nobody otherwise, or else the
    reference answer that its event had.

    Raises:
        WrongSettings: no such interaction is assessed, it was erased, nothing tells what the right answer is, or a
            text is too long.
    """
    row = _row(application, name)
    if Mark.ERASED in row["marks"]:
        raise WrongSettings(f"{readable(name)}: was erased, so that there is no question any more")
    read_as = row["read_as"]
    if read_as is not None and read_as["text"] is None:
        raise WrongSettings(f"{readable(name)}: {read_as['problem']}: write the question into a file, and import that")
    if reference is None:
        reference = _labelled_right(application, row) or row["reference_answer"]
    if reference is None:
        raise WrongSettings(
            f"{readable(name)}: nobody has labelled its answer grounded, and its event has no reference answer: "
            f"give one with --reference, or label it with monitor review label {shlex.quote(readable(name))} grounded"
        )
    source = Source(row["app"], row["id"])
    try:
        return golden_item(
            id_=str(source) if len(str(source)) <= LONGEST_ID else content_id(str(source)),
            question=row["question"] if read_as is None else read_as["text"],
            reference=reference,
            tags={str(tag): str(value) for tag, value in row["tags"].items()},
            source=source,
        )
    except NotGolden as error:
        raise WrongSettings(f"{readable(name)}: {error}") from None


def _row(application: Application, name: str) -> Mapping[str, Any]:
    for app, id_ in spellings(name):
        rows = application.queries.with_assessments(id_, app)
        if rows:
            return next((row for row in rows if row["live"]), rows[0])
    if not spellings(name):
        raise WrongSettings(f"{readable(name)!r} is no APP/ID, such as support-bot/q-17")
    raise WrongSettings(f"no interaction {readable(name)!r} is assessed: monitor explain lists the newest that are")


def _labelled_right(application: Application, row: Mapping[str, Any]) -> str | None:
    labels = {label["label"] for label in newest_labels(application.engine, row["app"], row["id"])}
    return str(row["answer"]) if labels == {Verdict.GROUNDED} else None
