"""Words the cause of an alert: the conclusion, how sure it is, and what to do next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from monitor.alert.explain.cause import BadKind, Broken, Cause, Told
from monitor.alert.explain.finding import ExampleAnswer
from monitor.alert.explain.sentences import percent, plain, value_phrase
from monitor.core.diagnosis import Diagnosis
from monitor.core.figures.proportions import Share, greater
from monitor.core.text.interaction_name import explain_command

LONGEST = 240  # characters of a sentence
_LONGEST_NAME = 80  # characters of an id, an app or a document: a longer one is not named
_MOSTLY = 0.3  # of the bad answers: with fewer off the question, the fit of documents is told instead
_USUAL = 0.05  # p from which on another part is as usual
_FEWEST_USUAL = 10  # answers, now and before, from which that can be said
_SURE = 1_000_000
_PARTS: Mapping[Broken, str] = {
    Broken.RETRIEVER: "retriever",
    Broken.GENERATOR: "generator",
    Broken.KNOWLEDGE_BASE: "knowledge base",
}
_AT_FAULT: Mapping[str, str] = {
    Diagnosis.GENERATOR_IGNORED: "ignore the relevant chunk that was retrieved",
    Diagnosis.GENERATOR_INVENTED: "use a relevant chunk, and say more than the documents",
}
_OFF = (BadKind.NO_DOCUMENTS, BadKind.OFF_QUESTION)
_ON = (BadKind.REFUSED, BadKind.INVENTED)


def conclusion(cause: Cause, telling: Sequence[ExampleAnswer]) -> list[str]:
    """Three sentences of one line, not escaped: which part broke, how sure that is, and what to do next."""
    return [each for each in (_headline(cause), _how_sure(cause), _next_step(cause, telling)) if each]


def _headline(cause: Cause) -> str:
    if not cause.suspects:
        if not cause.looked_at:
            return "No part stands out: there are too few answers before to compare with."
        return f"No part stands out: bad answers have not clearly risen in any of {cause.looked_at} places compared."
    parts = " or ".join(_PARTS[part] for part in cause.suspects)
    where = f", {value_phrase(cause.where)}" if cause.where else ""
    where += " (new)" if cause.new else ""
    return f"{parts[:1].upper()}{parts[1:]}{where}: {_what(cause)}."


def _what(cause: Cause) -> str:
    match cause.named:
        case Broken.RETRIEVER:
            return _of_retriever(cause) + _others_as_usual(cause)
        case Broken.GENERATOR:
            return f"{_of_generator(cause)}; retriever as usual"
        case Broken.KNOWLEDGE_BASE:
            lacking = _lacking(cause) or f"their documents fit less well{_by_qrd(cause)}"
            return f"{_bad(cause)}, on questions unlike earlier ones; {lacking}"
    fitting = {Told.YES: "; documents fit less than before", Told.NO: "; documents fit as before", Told.OPEN: ""}
    if cause.missed is not Told.OPEN:
        fitting = {Told.YES: f"; {_lacking(cause)}", Told.NO: "; relevant chunks were retrieved as before"}
    asked = {Told.YES: "; questions are unlike earlier ones", Told.NO: "; questions are as before", Told.OPEN: ""}
    return _bad(cause) + fitting[cause.poor] + asked[cause.unlike]


def _of_retriever(cause: Cause) -> str:
    now, before = _share(cause, _OFF)
    none_at_all = _share(cause, _OFF[:1])[0].rate >= now.rate / 2
    if (lacking := _lacking(cause)) and not none_at_all:
        return lacking
    if now.rate < _MOSTLY:
        return f"documents fit the questions less than before{_by_qrd(cause)}, and such questions were asked before"
    found = "there are no documents" if none_at_all else "documents are off the question"
    return f"{found} in {percent(now.rate)} of the bad answers ({percent(before.rate)} before)"


def _lacking(cause: Cause) -> str:
    """How many bad answers lack a relevant chunk, if they make up the rise."""
    if cause.missed is not Told.YES:
        return ""
    now, before = cause.diagnoses.shares_of_counted(Diagnosis.RETRIEVAL_MISSED)
    return f"{percent(now.rate)} of the bad answers lack a relevant chunk ({percent(before.rate)} before)"


def _of_generator(cause: Cause) -> str:
    if cause.missed is Told.NO:
        rises = {what: cause.diagnoses.shares(diagnosis) for diagnosis, what in _AT_FAULT.items()}
        what, (is_now, was) = max(rises.items(), key=lambda each: each[1][0].rate - each[1][1].rate)
        return f"{percent(is_now.rate)} of the answers {what} ({percent(was.rate)} before)"
    counts = {each.kind: each for each in cause.kinds if each.kind in _ON}
    most = max(counts.values(), key=lambda each: each.now - each.before * cause.answers / max(cause.before_answers, 1))
    now, before = most.now / max(cause.answers, 1), most.before / max(cause.before_answers, 1)
    what = "refused" if most.kind is BadKind.REFUSED else "invented"
    said = f"{percent(now)} of the answers are {what} ({percent(before)} before)"
    return f"{said}, though documents fit the questions as before"


def _others_as_usual(cause: Cause) -> str:
    """Says so if answers with documents on the question are no worse than before, and there are enough of them."""
    off = sum(each.now for each in cause.kinds if each.kind in _OFF)
    off_before = sum(each.before for each in cause.kinds if each.kind in _OFF)
    now = Share(matching=cause.bad - off, total=cause.answers - off)
    before = Share(matching=cause.before_bad - off_before, total=cause.before_answers - off_before)
    enough = min(now.total, before.total) >= _FEWEST_USUAL
    return "; generator as usual" if enough and greater(now, before) >= _USUAL else ""


def _bad(cause: Cause) -> str:
    now, before = cause.bad / max(cause.answers, 1), cause.before_bad / max(cause.before_answers, 1)
    return f"{percent(now)} of the answers are bad ({percent(before)} before)"


def _by_qrd(cause: Cause) -> str:
    if cause.qrd is None or cause.qrd_before is None or cause.qrd >= cause.qrd_before:
        return ""
    return f" (QRD {cause.qrd:.2f}, {cause.qrd_before:.2f} before)"


def _share(cause: Cause, kinds: Sequence[BadKind]) -> tuple[Share, Share]:
    """The share of bad answers that are of `kinds`, now and before."""
    return (
        Share(matching=sum(each.now for each in cause.kinds if each.kind in kinds), total=cause.bad),
        Share(matching=sum(each.before for each in cause.kinds if each.kind in kinds), total=cause.before_bad),
    )


def _how_sure(cause: Cause) -> str:
    if not cause.suspects:
        return ""
    odds = min(1 / cause.p, _SURE) if cause.p else _SURE
    chance = f"{'less than ' if odds == _SURE else ''}1 in {odds:,.0f}"
    return f"How sure: the chance of so many bad answers without a change is {chance}."


def _next_step(cause: Cause, telling: Sequence[ExampleAnswer]) -> str:
    """What to look at, with a command that shows it."""
    command = next((shown for each in telling if (shown := command_of(each))), None)
    look = f"`{command}`" if command else "the example answers"
    if cause.missing:
        return (
            f"Next: {value_phrase(cause.missing)}: is it still in the index? It came with many of these answers "
            "before, and now with hardly any. If it is gone, the knowledge base lost it."
        )
    match cause.suspects:
        case ():
            return f"Next: wait for more answers, and read {look} until then."
        case (Broken.RETRIEVER, *_):
            return f"Next: {look} shows what was retrieved. Is there a better document in the index?"
        case (Broken.KNOWLEDGE_BASE, *_):
            return f"Next: {look} shows a question. If your sources answer it, they are not in the index."
        case (Broken.GENERATOR, Broken.KNOWLEDGE_BASE):
            return f"Next: {look} shows the documents. If they answer the question, it is the generator."
    return f"Next: {look} shows answer and documents. Try the same ones with the earlier model or prompt."


def command_of(shown: ExampleAnswer) -> str | None:
    """The command that explains an answer; None if its id or app cannot be typed as they are."""
    if not (shown.id and _can_be_named(shown.id) and _can_be_named(shown.app)):
        return None
    return explain_command(shown.app, shown.id)


def _can_be_named(name: str) -> bool:
    """Whether a name from outside is shown as it is: on one line, short, without a sign that could end the command."""
    return name == plain(name) and len(name) <= _LONGEST_NAME and "`" not in name
