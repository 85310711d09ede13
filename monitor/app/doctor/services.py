"""Checks of what a run reaches or is reached by: Kafka, OTLP, look-ups, language models, receivers, destinations."""

from __future__ import annotations

from contextlib import closing
from typing import Any

from typing_extensions import override

from monitor.app.doctor.parts import PROBE
from monitor.app.wiring.application import Application, utc_now
from monitor.app.wiring.collect import grpc_can_be_served
from monitor.app.wiring.export import destinations
from monitor.app.wiring.lookup import sources
from monitor.app.wiring.models import chat_model
from monitor.app.wiring.tracing import traced
from monitor.assess.complete.sidecar import PROMPTS
from monitor.assess.judge.correctness.grader import DOWN
from monitor.assess.llm.exchange import Block, Prompt, Purpose, Request, Reservation, Spend
from monitor.assess.ports import Budget
from monitor.core.errors import Fatal, MonitorError
from monitor.core.pending import SENDING
from monitor.core.settings.load import Settings
from monitor.core.text.plain import plural
from monitor.store.migrate import has_schema
from monitor.store.pending.queue import PendingQueue

NO_DOCUMENT = "monitor-doctor"  # an id that a look-up may be asked for


def check_kafka(application: Application) -> str:
    kafka = application.settings.kafka
    if not kafka.bootstrap_servers and not kafka.topics and kafka.topic_pattern is None:
        return "not set: `monitor run` follows files, `monitor collect` takes traces and events"
    topics = application.kafka.partitions()
    found = [f"{topic} ({plural(number, 'partition')})" for topic, number in topics.items()]
    return f"{', '.join(kafka.bootstrap_servers)}: {', '.join(found) or 'no topic matches the pattern yet'}"


def check_collect(application: Application) -> str:
    """Opens no port: `monitor collect` may run here."""
    settings = application.settings.collect
    found = f"OTLP and events by HTTP on port {settings.port}"
    if settings.grpc_port is None:
        return found
    if grpc_can_be_served(settings):
        return f"{found}, OTLP by gRPC on port {settings.grpc_port}"
    return f"{found}; by gRPC too: pip install 'rag-monitor[grpc]'"


def check_traces(application: Application) -> str:
    """Loads what sends traces, so that a missing package is found; sends nothing."""
    settings = application.settings.tracing
    with traced(settings):
        return "not sent: MONITOR_TRACING__ENDPOINT is not set" if settings.endpoint is None else settings.endpoint


def check_sign_in(application: Application) -> str:
    """Asks the provider for nothing."""
    settings = application.settings
    oidc = settings.web.oidc
    redirect_uri = oidc.redirect_uri(settings.public_url)
    if redirect_uri is None:
        return "by access token, or by the link that `monitor serve` prints: MONITOR_WEB__OIDC__ISSUER is not set"
    return f"by access token, or at {oidc.issuer}, which sends people back to {redirect_uri}"


def check_authorities(application: Application) -> str:
    """Asks for no time stamp."""
    found = [
        f"{authority.name}{'' if authority.trusted else ', whose signatures are not checked here'}"
        for authority in application.auditing.authorities()
    ]
    return "; ".join(found) or "not used: MONITOR_AUDIT__TIMESTAMP_URL and MONITOR_AUDIT__CALENDAR_URL are not set"


def check_lookup(application: Application) -> str:
    """Asks every source for a document that there is not."""
    found = []
    for name, source in sources(application.settings.lookup).items():
        with closing(source):
            source.texts(application.settings.ingest.app, [NO_DOCUMENT])
        found.append(f"{name}: {source.describe()} answers")
    return "; ".join(found) or "not set: texts that a trace does not hold stay unknown (`monitor docs operate/lookup`)"


def check_language_models(application: Application) -> str:
    settings = application.settings
    found = []
    if settings.sidecar.mode != "off":
        found.append(f"sidecar ({settings.sidecar.mode}): {_asked(settings, Purpose.SIDECAR)}")
    if settings.judge.mode != "off":
        found.append(f"judge ({settings.judge.mode}): {_asked(settings, Purpose.JUDGE)}")
    if settings.probes is not None:
        found.append(f"judge of probes: {_asked(settings, Purpose.PROBE)}")
    if not found:
        return "not used: MONITOR_SIDECAR__MODE and MONITOR_JUDGE__MODE are off, and MONITOR_PROBES is not set"
    if not any(value is not None for value in settings.llm.budget.model_dump().values()):
        found.append("no budget is set: MONITOR_LLM__BUDGET__…")
    return "; ".join(found)


class _Uncounted(Budget):
    """A budget without limits, for one question: its table may not exist yet."""

    @override
    def reserve(self, purpose: Purpose, model: str, most: Spend) -> Reservation:
        return Reservation(purpose=purpose, model=model, at=utc_now(), spend=most)

    @override
    def settle(self, reservation: Reservation, spend: Spend) -> None:
        pass


def _asked(settings: Settings, purpose: Purpose) -> str:
    """Sends a prompt, that of probes or the explain prompt, with one line of text."""
    prompt: Prompt[Any] = DOWN if purpose is Purpose.PROBE else PROMPTS["explain"]
    other = "reference" if purpose is Purpose.PROBE else "document 1"
    blocks = [Block(name=name, text=PROBE) for name in ("question", other, "answer")]
    with closing(chat_model(settings, purpose, _Uncounted(), utc_now)) as model:
        reply = model.ask(Request(prompt=prompt, blocks=tuple(blocks)))
    hint = ", after a repair; MONITOR_LLM__STRUCTURE=json_object would save calls" if reply.repaired else ""
    return f"{model.model} answers in the requested form{hint}"


def check_export(application: Application) -> str:
    found, problems = list[str](), list[str]()
    for destination in destinations(application.settings):
        with closing(destination):
            try:
                found.append(destination.check())
            except MonitorError as error:
                problems.append(str(error))
    if not found and not problems:
        return "not used: no MONITOR_EXPORT__… is set"
    if has_schema(application.engine):
        counts = PendingQueue(application.engine).counts(application.now(), *SENDING)
        if lost := sum(count.given_up for count in counts):
            why = max(count.last_error or "" for count in counts)
            problems.append(f"verdicts that were refused and given up: {lost}; {why}")
        found.append(f"verdicts that wait to be sent: {sum(count.waiting for count in counts)}")
    if problems:
        raise Fatal("; ".join([*problems, *found]))
    return "; ".join(found)


def check_receivers(application: Application) -> str:
    application.alerting.patience(application.alerting.receivers)
    found = [f"{name}: {receiver.check()}" for name, receiver in application.alerting.receivers.items()]
    return "; ".join(found)
