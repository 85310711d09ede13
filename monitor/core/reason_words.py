"""Reasons of verdicts, diagnoses and missing scores in words, the same in pages, messages and on the command line."""

from __future__ import annotations

from monitor.core.diagnosis import Diagnosis
from monitor.core.model import Reason, Unscored

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

# Each is a clause: it can stand after "because" or alone.
DIAGNOSIS_WORDS = {
    Diagnosis.RETRIEVAL_MISSED: "what was retrieved does not answer the question",
    Diagnosis.RETRIEVAL_NOISY: "most of what was retrieved is off the question",
    Diagnosis.RETRIEVAL_REDUNDANT: "much of what was retrieved repeats the rest",
    Diagnosis.GENERATOR_IGNORED: "something that was retrieved fits the question, and the answer does not use it",
    Diagnosis.GENERATOR_INVENTED: "the answer rests on what was retrieved, and says more than that",
    Diagnosis.HEALTHY: "neither the retriever nor the generator is at fault",
}
# Where to look and what to do.
DIAGNOSIS_ADVICE = {
    Diagnosis.RETRIEVAL_MISSED: "look at the retriever, then the knowledge base: does it lack what was asked?",
    Diagnosis.RETRIEVAL_NOISY: "look at the retriever: let it return fewer documents, or only those about the question",
    Diagnosis.RETRIEVAL_REDUNDANT: "look at the knowledge base: remove what it holds twice, or let the retriever "
    "return it once",
    Diagnosis.GENERATOR_IGNORED: "see whether what fits the question answers it: if so, look at the generator and its "
    "prompt, otherwise at the knowledge base",
    Diagnosis.GENERATOR_INVENTED: "look at the generator and its prompt: it says more than the documents; if that is "
    "true, extend the knowledge base",
    Diagnosis.HEALTHY: "nothing to do",
}


def diagnosis_name(diagnosis: Diagnosis) -> str:
    """Its name as people read it, such as `retrieval missed`."""
    return diagnosis.value.replace("_", " ")


# Each completes "38 % of turns …" and "this turn …", as the pages and commands say it.
UNSCORED_WORDS = {
    Unscored.CALL_FAILED: "ended with a failed model call",
    Unscored.CONTENT_REDACTED: "had texts redacted before they were sent",
    Unscored.CONTENT_NOT_CAPTURED: "carry no question or answer",
    Unscored.NO_RETRIEVAL: "looked nothing up",
    Unscored.NO_DOCUMENT_TEXT: "carry no document text",
    Unscored.PROBE: "were asked by a golden probe",
}
UNSCORED_OF_ONE = UNSCORED_WORDS | {
    Unscored.CONTENT_NOT_CAPTURED: "carries no question or answer",
    Unscored.NO_DOCUMENT_TEXT: "carries no document text",
    Unscored.PROBE: "was asked by a golden probe",
}
# What to do about it; `UNSCORED_PAGE` says more.
UNSCORED_ADVICE = {
    Unscored.CALL_FAILED: "look at the chatbot's calls of its model: there is no answer to score",
    Unscored.CONTENT_REDACTED: "unset what redacts in the chatbot (OPENINFERENCE_HIDE_INPUTS is one); "
    "to redact here, set MONITOR_REDACTION__KINDS",
    Unscored.CONTENT_NOT_CAPTURED: "switch on the recording of content in the instrumentation",
    Unscored.NO_RETRIEVAL: "nothing to do if these turns need no documents; otherwise record the retrieval",
    Unscored.NO_DOCUMENT_TEXT: "switch on the recording of document texts, or set up a look-up of documents by id",
    Unscored.PROBE: "nothing to do: the run of the probe has its grade",
}
UNSCORED_PAGE = "monitor docs start/traces"
