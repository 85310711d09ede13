"""The reasons of verdicts in words, the same in pages, messages and on the command line."""

from __future__ import annotations

from monitor.core.model import Reason

REASON_WORDS = {
    Reason.SUPPORT_OFF_QUESTION: "the supporting documents are not about the question",
    Reason.SUPPORT_NOT_RETRIEVED: "the supporting documents do not match the retrieved ones",
    Reason.ANSWER_OFF_SUPPORT: "the answer departs from its supporting documents",
    Reason.RETRIEVAL_OFF_QUESTION: "the retrieved documents are not about the question",
    Reason.ANSWER_OFF_QUESTION: "the answer is not about the question",
    Reason.NOT_IN_DOCUMENTS: "the answer says something that no retrieved document supports",
    Reason.MISSING_FACT: "a number, date or name in the answer is in no document",
    Reason.CONTRADICTS_DOCUMENTS: "a document contradicts a sentence of the answer, or gives another figure",
    Reason.NO_DOCUMENTS: "nothing was retrieved",
    Reason.NO_SUPPORT: "the generator named no supporting document",
    Reason.EMPTY_ANSWER: "the answer is empty",
    Reason.REFUSAL_WORDING: "the answer is worded as a refusal",
}
