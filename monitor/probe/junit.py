"""Writes a run as JUnit XML, which release pipelines show: a test case for each item, and one for each threshold."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from xml.etree.ElementTree import Element, SubElement, tostring

from monitor.probe.figures import SCORES, RunFigures
from monitor.probe.result import ItemResult, ItemState, ProbeRun

LEAST: Final = {"correctness": "least", "wscore": "least", "mscore": "least", "unsure": "most", "lscore": "most"}
LEAST_JUDGED: Final = 0.95  # of the questions; without the others, the mean may be that of the easy ones
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_LONGEST = 2_000  # characters of an answer or a feedback


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """A limit on a figure of a run: the least mean, or for `unsure` and `lscore` the most."""

    name: str
    limit: float

    def problem(self, found: RunFigures) -> str | None:
        """Why the run does not reach the limit; None if it does. Without a mean it does not."""
        mean = found.named(self.name).mean
        if mean is None:
            return f"{self} cannot be checked: no item has this score"
        kept = mean >= self.limit if LEAST[self.name] == "least" else mean <= self.limit
        digits = 2 if round(mean, 2) != self.limit else 6
        return None if kept else f"{self.name} is {mean:.{digits}f}, and its limit is {self.limit:g}"

    def __str__(self) -> str:
        return f"{self.name} {'>=' if LEAST[self.name] == 'least' else '<='} {self.limit:g}"


def checks(found: RunFigures, thresholds: Sequence[Threshold]) -> list[tuple[str, str | None]]:
    """What a release gate checks, each with why it does not pass, or None; nothing without thresholds.

    The first is that enough questions have a grade: a chatbot that answers little can have a good mean.
    """
    if not thresholds:
        return []
    judged, asked = found.unsure.count, sum(found.states.values())
    problem = f"only {judged} of {asked} questions have a grade" if judged < LEAST_JUDGED * asked else None
    return [(f"judged >= {LEAST_JUDGED:.0%}", problem), *((str(one), one.problem(found)) for one in thresholds)]


def parse_threshold(text: str) -> Threshold:
    """Reads `correctness=4.0`.

    Raises:
        ValueError: `text` is no threshold.
    """
    name, _, limit = text.partition("=")
    try:
        value = float(limit)
    except ValueError:
        value = float("nan")
    least, most = SCORES.get(name, (0.0, 1.0))
    if name not in LEAST or not value >= 0:
        raise ValueError(f"{text!r} is no threshold: write {', '.join(LEAST)} with a number, such as correctness=4.0")
    if not least <= value <= most:
        raise ValueError(f"{text!r} says nothing: {name} is from {least:g} to {most:g}")
    return Threshold(name=name, limit=value)


def junit_xml(
    run: ProbeRun, results: Sequence[ItemResult], found: RunFigures, thresholds: Sequence[Threshold]
) -> bytes:
    """The file. An item that the chatbot did not answer, or the judge did not grade, is an error; so is a stopped run.

    Only the checks of thresholds fail, since a single score varies by chance.
    """
    checked = checks(found, thresholds)
    errors = [result for result in results if result.state in {ItemState.FAILED, ItemState.UNGRADED}]
    counts = {
        "tests": str(len(results) + len(checked) + (run.error is not None)),
        "failures": str(sum(problem is not None for _, problem in checked)),
        "errors": str(len(errors) + (run.error is not None)),
        "time": f"{sum(result.seconds for result in results):.3f}",
    }
    root = Element("testsuites", counts)
    suite = SubElement(root, "testsuite", {"name": _xml(f"probe {run.probe}"), **counts})
    suite.set("timestamp", run.began_at.isoformat(timespec="seconds"))
    for result in results:
        case = _case(suite, run, result.item.id, seconds=result.seconds)
        if result.state in {ItemState.FAILED, ItemState.UNGRADED}:
            last = result.turns[-1] if result.turns else None
            reason = last and (last.failure or (last.grade and last.grade.reason))
            SubElement(case, "error", {"type": result.state, "message": _xml(str(reason or "no answer"))})
        SubElement(case, "system-out").text = _xml(_said(result))
    if run.error is not None:
        SubElement(_case(suite, run, "whole run", seconds=0.0), "error", {"message": _xml(run.error)})
    for name, problem in checked:
        case = _case(suite, run, name, seconds=0.0)
        if problem is not None:
            SubElement(case, "failure", {"type": name.split()[0], "message": problem})
    return bytes(tostring(root, encoding="utf-8", xml_declaration=True))


def _case(suite: Element, run: ProbeRun, name: str, *, seconds: float) -> Element:
    return SubElement(
        suite, "testcase", {"classname": _xml(f"probe.{run.probe}"), "name": _xml(name), "time": f"{seconds:.3f}"}
    )


def _said(result: ItemResult) -> str:
    lines = [f"question: {result.item.question}", f"reference: {result.item.reference}"]
    for turn in result.turns:
        score = None if turn.grade is None else turn.grade.score
        lines.append(f"asked: {turn.question}")
        lines.append(f"answer: {turn.answer[:_LONGEST]}")
        if score is not None and turn.grade is not None:
            lines.append(f"score: {score:g} ({turn.grade.feedback[:_LONGEST]})")
    return "\n".join(lines)


def _xml(text: str) -> str:
    """The text without characters that XML 1.0 cannot hold."""
    return _NOT_XML.sub("\ufffd", text)
