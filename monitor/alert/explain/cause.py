"""The cause of an alert: which part of the chatbot broke, how sure that is, and what would tell what is open."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from monitor.alert.explain.finding import Diagnoses, Value


class Broken(StrEnum):
    """A part of the chatbot that may break."""

    RETRIEVER = "retriever"
    GENERATOR = "generator"
    KNOWLEDGE_BASE = "knowledge_base"


class BadKind(StrEnum):
    """What is wrong with a bad answer, by its diagnosis and reasons; each has one kind, the first that applies."""

    NO_DOCUMENTS = "no_documents"
    OFF_QUESTION = "off_question"  # the documents, or the support taken from them
    REFUSED = "refused"  # although there were documents on the question
    INVENTED = "invented"  # likewise


class Told(StrEnum):
    """What a comparison says."""

    YES = "yes"
    NO = "no"
    OPEN = "open"  # too few answers, or nothing to compare with


@dataclass(frozen=True, slots=True, kw_only=True)
class KindCount:
    """Bad answers of one kind in the place of the cause, now and before."""

    kind: BadKind
    now: int
    before: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """The conclusion of an explanation.

    `suspects` are the parts that may have broken: one if the cause is named, several if they cannot be told apart, none
    if bad answers have not clearly risen. `where` is the value to which the rise is confined, None for everywhere;
    `new`: the value hardly occurred before, so `before` is of the others. `answers` with `bad` ones among them are of
    that place, in the window; `before` of the baseline. `kinds` count the bad ones. `rise` is in addition to what the
    same topics had before, in answers. `p` is the chance of such a rise somewhere if nothing changed, over all
    `looked_at` places (the Bonferroni bound).

    `diagnoses` are of that place, and count the bad answers. `missed`: whether bad answers that lack a relevant chunk
    make up the rise (yes), or those that have one (no). `poor`: whether the documents of the bad
    answers fit their questions less than documents did before, as `missed` says, or where that is open QRD. `fit` is
    the mean place of QRD among the earlier ones of the same topic, in [0, 1], ½ if nothing changed. `qrd` and
    `qrd_before` are medians. `unlike`: whether their questions are unlike the ones asked before. `missing` is the
    document that was retrieved much more often before, if there is one.
    """

    suspects: tuple[Broken, ...]
    looked_at: int
    where: Value | None = None
    new: bool = False
    answers: int = 0
    bad: int = 0
    before_answers: int = 0
    before_bad: int = 0
    rise: float = 0.0
    p: float = 1.0
    kinds: tuple[KindCount, ...] = ()
    diagnoses: Diagnoses = field(default_factory=Diagnoses)
    missed: Told = Told.OPEN
    poor: Told = Told.OPEN
    fit: float | None = None
    qrd: float | None = None
    qrd_before: float | None = None
    unlike: Told = Told.OPEN
    missing: Value | None = None

    @property
    def named(self) -> Broken | None:
        """The part that broke; None if that is open, or nothing stands out."""
        return self.suspects[0] if len(self.suspects) == 1 else None


_RETRIEVER, _GENERATOR, _KNOWLEDGE = Broken
# By whether documents fit less than before, and whether questions are unlike earlier ones; the likeliest part first.
_SUSPECTS = {
    (Told.YES, Told.YES): (_KNOWLEDGE,),
    (Told.YES, Told.NO): (_RETRIEVER,),
    (Told.YES, Told.OPEN): (_RETRIEVER, _KNOWLEDGE),
    (Told.NO, Told.YES): (_GENERATOR, _KNOWLEDGE),
    (Told.NO, Told.NO): (_GENERATOR,),
    (Told.NO, Told.OPEN): (_GENERATOR,),
    (Told.OPEN, Told.YES): (_KNOWLEDGE, _GENERATOR),
    (Told.OPEN, Told.NO): (_GENERATOR, _RETRIEVER),
    (Told.OPEN, Told.OPEN): (_GENERATOR, _RETRIEVER, _KNOWLEDGE),
}


def suspects_of(poor: Told, unlike: Told) -> tuple[Broken, ...]:
    """Which parts may have broken, the likeliest first, once bad answers have risen.

    Documents that fit as before leave the generator, or questions that the documents never answered. Documents that fit
    less are the retriever's fault if such questions were asked before; if not, the knowledge base lacks something.
    """
    return _SUSPECTS[poor, unlike]
