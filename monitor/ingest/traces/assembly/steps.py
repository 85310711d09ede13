"""The steps of a trace, and which of them is the call that gave the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from monitor.ingest.traces.conventions.documents import documents_of, merged, squeezed
from monitor.ingest.traces.conventions.kinds import Kind, is_check, kind_by_name, kind_of
from monitor.ingest.traces.conventions.step import Step
from monitor.ingest.traces.conventions.values import is_plain_text, understood
from monitor.ingest.traces.trace import Trace
from monitor.ingest.traces.turn import TurnDocument

_MOST_KNOWN = 200  # documents that are looked for in the text of a tool


@dataclass(frozen=True)
class Steps:
    """The spans of a trace, read, in the order in which they started."""

    trace: Trace

    @cached_property
    def by_id(self) -> dict[str, Step]:
        logs = self.trace.logs_of
        steps = {i: Step(span, kind_of(span), logs.get(i, ())) for i, span in self.trace.by_id.items()}
        around_models: set[str] = set()
        for span_id, step in steps.items():
            if step.kind is Kind.MODEL:
                for above in self.trace.ancestors(span_id):
                    if above in around_models:
                        break
                    around_models.add(above)
        for span_id, step in steps.items():
            if step.kind is Kind.CHAIN and span_id not in around_models:
                named = replace(step, kind=kind_by_name(step.span.name))
                if named.kind is not Kind.CHAIN and named.documents is not None:
                    steps[span_id] = named
                elif not around_models and step.is_completion:
                    steps[span_id] = replace(step, kind=Kind.MODEL)
        return steps

    def of(self, *kinds: Kind) -> list[Step]:
        return [step for step in self.by_id.values() if step.kind in kinds]

    @cached_property
    def retrieval_steps(self) -> Sequence[Step]:
        """The retrievers and rerankers."""
        return self.of(Kind.RETRIEVER, Kind.RERANKER)

    @cached_property
    def hides_documents(self) -> bool:
        """Whether the text of a document is redacted where it was found."""
        return any(step.hides_documents for step in self.retrieval_steps)

    @cached_property
    def models(self) -> Sequence[Step]:
        """The calls of models. Spans that only call themselves so, and show neither text nor tokens, are left out."""
        checks = {span_id for span_id, step in self.by_id.items() if is_check(step.span)}
        within = self.below(checks) if checks else set()
        models = [step for step in self.of(Kind.MODEL) if not step.is_empty]
        speaking = [step for step in models if step.span.span_id not in within] or models
        telling = [step for step in speaking if step.output_messages or step.failed]
        return telling or speaking

    @cached_property
    def final(self) -> Step | None:
        """The call that gave the answer, or failed: of those that did not ask for tools, the one that ended last."""
        calls = [step for step in self.models if step.failed or not step.calls_tools]
        if not calls and self._root_answers():
            calls = list(self.models)  # an agent that gives its answer by calling a tool
        return max(
            calls, key=lambda s: (s.span.ended, s.text is not None, self._depth(s), s.span.span_id), default=None
        )

    @cached_property
    def around(self) -> Sequence[Step]:
        """The chains around the final call, and those without a parent, from the outermost on."""
        if self.final is None:
            return ()
        above: list[Step] = []
        for span_id in self.trace.ancestors(self.final.span.span_id):
            above.append(self.by_id[span_id])
            # an answer within a tool is not the chatbot's: what is around it tells more
            if above[-1].kind is Kind.TOOL:
                above.clear()
        chosen = {step.span.span_id: step for step in above}
        for span_id in self.trace.children_of.get(None, ()):
            if self.trace.by_id[span_id].parent_id is None:
                chosen[span_id] = self.by_id[span_id]
        ordered = sorted(chosen.values(), key=lambda s: (self._depth(s), s.span.started, s.span.span_id))
        return [step for step in ordered if step.kind is Kind.CHAIN]

    @cached_property
    def known_documents(self) -> Sequence[TurnDocument]:
        """Documents that chains and tools hold, as one that formats them, each once."""
        lists = []
        for step in self.of(Kind.CHAIN, Kind.TOOL):
            lists += [documents_of(step.input) or (), documents_of(step.output) or ()]
        return merged(lists)

    @cached_property
    def known_texts(self) -> Sequence[tuple[str, TurnDocument]]:
        """The first of the known documents, each behind its text as it is compared."""
        return [(squeezed(d.text), d) for d in self.known_documents[:_MOST_KNOWN] if d.text]

    def topmost(self, *kinds: Kind) -> list[Step]:
        """The steps of these kinds that are within no other of them, in the order of their start."""
        within: set[str] = set()
        found = []
        for span_id, step in sorted(self.by_id.items(), key=lambda item: self._depth(item[1])):
            parent_id = self.trace.parent_of[span_id]
            if parent_id in within:
                within.add(span_id)
            elif step.kind in kinds:
                within.add(span_id)
                found.append(step)
        return sorted(found, key=lambda s: (s.span.started, s.span.span_id))

    def below(self, chosen: set[str]) -> set[str]:
        """The ids of all spans that are within one of the chosen."""
        found: set[str] = set()
        for span_id in self.trace.depth_of:  # parents come before their children
            parent_id = self.trace.parent_of[span_id]
            if parent_id in chosen or parent_id in found:
                found.add(span_id)
        return found

    def _root_answers(self) -> bool:
        """Whether a chain without a parent gave back a text."""
        roots = [self.by_id[span_id] for span_id in self.trace.children_of.get(None, ())]
        outputs = [understood(s.output) for s in roots if s.kind is Kind.CHAIN and s.span.parent_id is None]
        return any(map(is_plain_text, outputs))

    def _depth(self, step: Step) -> int:
        return self.trace.depth_of.get(step.span.span_id, 0)
