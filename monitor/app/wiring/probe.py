"""The part of the composition root that wires probes: targets, contexts, the grader and the roles."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from monitor.core.errors import WrongSettings
from monitor.core.yaml.watched import WatchedFile
from monitor.probe.file import Probe, load_probes, parse_probes
from monitor.probe.golden import GoldenItem
from monitor.probe.mark import Marked, ProbedTurns, conversation_name
from monitor.probe.result import ItemResult

if TYPE_CHECKING:
    from monitor.app.wiring.application import Application
    from monitor.assess.judge.correctness.grade import Contexts
    from monitor.assess.llm.exchange import Prompt
    from monitor.assess.ports import LanguageModel
    from monitor.store.probe.golden import GoldenSets
    from monitor.store.probe.runs import ProbeRuns


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """What holds the conversation about an item, and where; `prompts` are those that grade and ask."""

    converse: Callable[[int, GoldenItem], ItemResult]
    place: str
    judge: str
    prompts: Sequence[Prompt[Any]]


class Probing:
    """Each part is built when it is first asked for."""

    def __init__(self, application: Application, *, judge: LanguageModel | None = None) -> None:
        """`judge` takes the place of the configured language model."""
        self._application = application
        self._judge = judge

    @cached_property
    def runs(self) -> ProbeRuns:
        from monitor.store.probe.runs import ProbeRuns

        return ProbeRuns(self._application.engine)

    @cached_property
    def golden(self) -> GoldenSets:
        from monitor.store.probe.golden import GoldenSets

        return GoldenSets(self._application.engine)

    @cached_property
    def probed_turns(self) -> ProbedTurns:
        def known(marks: set[str]) -> Mapping[str, Marked]:
            return self.runs.marks(marks)  # the database is opened for the first mark

        return ProbedTurns(known)

    def probes(self) -> Mapping[str, Probe]:
        """The probes of the configured file, by name, read anew; none if no file is configured.

        Raises:
            WrongSettings: the file cannot be read or is wrong.
        """
        path = self._application.settings.probes
        return {} if path is None else load_probes(path)

    def watched(self) -> Callable[[], Mapping[str, Probe]]:
        """What gives `probes` each time it is called, and those of the last valid file while the file is wrong.

        Raises:
            WrongSettings: the file cannot be read or is wrong now.
        """
        path = self._application.settings.probes
        if path is None:
            return dict
        return WatchedFile(path, partial(parse_probes, name=str(path)), of="probes", count=len).current

    def probe(self, name: str) -> Probe:
        """The probe of this name.

        Raises:
            WrongSettings: there is none, or the file is wrong.
        """
        known = self.probes()
        if name in known:
            return known[name]
        if self._application.settings.probes is None:
            raise WrongSettings(
                "no probes are configured: set MONITOR_PROBES to a file of probes; see `monitor docs quality/probes`"
            )
        raise WrongSettings(f"there is no probe {name!r}; known: {', '.join(known)}")

    @contextmanager
    def asking(self, probe: Probe, *, turns: int, mark: str) -> Iterator[Asking]:
        """Yields what asks the probe's chatbot and grades its answers, and closes it when the block ends.

        Raises:
            WrongSettings: no language model is configured, or a secret or function of the target is missing.
            Retriable, Fatal: the documents of the app, or their embeddings, are out of reach.
        """
        from monitor.assess.judge.correctness.grader import CorrectnessGrader
        from monitor.probe.conversation.converse import converse
        from monitor.probe.conversation.roles import Roles

        model = self._judge or self._application.language_models.probing_model
        grader = CorrectnessGrader(model, repeats=probe.repeats)
        roles = Roles(model, encoder=self._application.assessing.encoder) if turns > 1 else None
        with ExitStack() as closing:
            target = probe.open_target()
            closing.callback(target.close)
            contexts = self._contexts(probe, mark, closing)

            def one(place: int, item: GoldenItem) -> ItemResult:
                return converse(
                    item,
                    target=target,
                    grader=grader,
                    contexts=contexts,
                    roles=roles,
                    turns=turns,
                    conversation=conversation_name(mark, place),
                )

            prompts = [*grader.prompts, *(Roles.prompts if roles is not None else ())]
            yield Asking(converse=one, place=target.place, judge=model.model, prompts=prompts)

    def _contexts(self, probe: Probe, mark: str, closing: ExitStack) -> Contexts:
        from monitor.probe.contexts import ByQuestionAndReference, Collection, FromRetriever
        from monitor.store.probe.documents import shown_documents

        retriever = probe.open_retriever()
        if retriever is not None:
            closing.callback(retriever.close)
            return FromRetriever(retriever, conversation=conversation_name(mark, "retriever"))
        documents = shown_documents(self._application.engine, probe.app, now=self._application.now())
        return ByQuestionAndReference(Collection(documents, self._application.assessing.embedder))
