"""Sends evaluations as annotations to Arize Phoenix: of the answer's span, or of its trace where that is unknown.

Source: https://arize.com/docs/phoenix/sdk-api-reference/rest-api (span and trace annotations). An annotation with the
same name and identifier is replaced. With `sync=true` the answer says whether the spans are known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from http import HTTPStatus

from typing_extensions import override

from monitor.alert.receivers.http import Endpoint
from monitor.app.export.destination import AT_ONCE, Destination, Refusal, address, bearer, problem, taken
from monitor.app.export.evaluations import Evaluation, answer_id, evaluations
from monitor.app.export.otlp import SPAN_ID, TRACE_ID
from monitor.core.assessment_json import encode
from monitor.core.model import Json
from monitor.core.pending import Work
from monitor.core.settings.export import Sent
from monitor.store.pending.verdicts import VerdictToSend

_SETTING = "MONITOR_EXPORT__PHOENIX__URL"
_SPANS, _TRACES = "/v1/span_annotations?sync=true", "/v1/trace_annotations?sync=true"
_PROJECTS = "/v1/projects?limit=1"


class PhoenixDestination(Destination):
    """Annotates spans, or traces. Those that Phoenix does not know are tried later: they may still be on their way."""

    kind = Work.SEND_PHOENIX
    at_once = AT_ONCE

    def __init__(self, *, url: str, api_key: str | None, scores: Sequence[Sent]) -> None:
        def endpoint(path: str) -> Endpoint:
            return Endpoint(address(url, path), name="phoenix", setting=_SETTING, headers=bearer(api_key))

        self._spans, self._traces, self._projects = endpoint(_SPANS), endpoint(_TRACES), endpoint(_PROJECTS)
        self._scores = scores

    @override
    def send(self, verdicts: Sequence[VerdictToSend]) -> Sequence[Refusal]:
        of_spans, of_traces, nowhere = [], [], []
        for place, verdict in enumerate(verdicts):
            if SPAN_ID.fullmatch(verdict.span_id or ""):
                of_spans.append(place)
            elif TRACE_ID.fullmatch(verdict.trace_id or ""):
                of_traces.append(place)
            else:
                nowhere.append(Refusal(place=place, why="phoenix: neither its span nor its trace has a valid id"))
        missing = self._annotate(self._spans, verdicts, of_spans, "span_id", lambda v: (v.span_id or "").lower())
        return [
            *nowhere,
            *missing,
            *self._annotate(self._traces, verdicts, of_traces, "trace_id", lambda v: (v.trace_id or "").lower()),
        ]

    @override
    def check(self) -> str:
        taken(self._projects, self._projects.get(), "the question for projects")
        return f"phoenix at {self._projects.host} answers"

    @override
    def close(self) -> None:
        """There is nothing to release."""

    def _annotate(
        self,
        endpoint: Endpoint,
        verdicts: Sequence[VerdictToSend],
        places: Sequence[int],
        field: str,
        target: Callable[[VerdictToSend], str],
    ) -> list[Refusal]:
        """Annotates; where Phoenix does not know some targets it takes none, so the others are sent again."""
        if not places:
            return []
        data = [
            annotation(verdicts[place], one) | {field: target(verdicts[place])}
            for place in places
            for one in evaluations(verdicts[place], self._scores)
        ]
        answer = endpoint.post(encode({"data": data}).encode())
        if answer.status != HTTPStatus.NOT_FOUND:
            taken(endpoint, answer, "an annotation")
            return []
        said = answer.body.decode(errors="replace")
        missing = {place for place in places if target(verdicts[place]) in said}
        if not missing:  # the page itself is not there
            raise problem(endpoint, answer, "an annotation")
        why = f"phoenix does not know its {field.removesuffix('_id')} yet"
        others = [place for place in places if place not in missing]
        return [
            *(Refusal(place=place, why=why, later=True) for place in sorted(missing)),
            *self._annotate(endpoint, verdicts, others, field, target),
        ]


def annotation(verdict: VerdictToSend, one: Evaluation) -> dict[str, Json]:
    """One evaluation as an annotation, but for what it annotates."""
    return {
        "name": one.name,
        "annotator_kind": one.by,
        "result": {"label": one.label, "score": one.value, "explanation": one.explanation},
        "metadata": {"app": verdict.app, "interaction": verdict.interaction_id, "profile": verdict.profile},
        "identifier": answer_id(verdict, one.name),
    }
