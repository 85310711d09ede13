"""The files that the pages name, as their readers would have them."""

from __future__ import annotations

import gzip
import json
import re
import sqlite3
import tomllib
from collections.abc import Iterable
from configparser import ConfigParser
from contextlib import closing
from datetime import datetime
from pathlib import Path

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from monitor.assess.classify.profile import SHIPPED
from monitor.core.settings.load import Settings
from monitor.simulate.traffic import event
from tests.factories.assess.tiny_model import TinyModel, byte_tokenizer
from tests.rig.docs.pages import blocks
from tests.rig.docs.stock import TEXTS, labelled_answers
from tests.rig.installation import ROOT
from tests.rig.web.browser_stock import RULES

# A page's own example of a file: its name, and the block below it.
_EXAMPLE = re.compile(
    r"`(?P<name>[\w-]+\.\w+)`[^`\n]*:\n\n(?P<indent> *)```\w+\n(?P<content>.*?)^ *```", re.DOTALL | re.MULTILINE
)
_BOT = """
def answer(question, history, conversation):
    said = "A refund takes 14 days." if "refund" in question else "At nine, from Monday to Friday."
    return {"answer": said, "documents": [said], "version": "v7"}
"""
_SCORED = {"question": TEXTS["question"], "reference": "A refund takes 14 days."}
_STEPS = (
    {"openinference.span.kind": "CHAIN", "input.value": "Open today?", "output.value": "Yes."},
    {"openinference.span.kind": "RETRIEVER", "output.value": json.dumps([{"id": "d", "text": "Open."}])},
    {"openinference.span.kind": "LLM", "output.value": "Yes."},
)


_BY_SETTINGS = ("docs/audit/privacy.md", "docs/start/settings.md")
# Paths and addresses of the pages, and what stands for them in the working directory.
PLACES = {
    "/etc/rag-monitor/monitor.toml": "monitor.toml",
    "/models/lettucedetect": "detector",
    "/models/reranker": "reranker",
    "postgresql://reader@kb.example.com/kb": "sqlite:///kb.sqlite",
}


def lay_files(page: Path, now: datetime) -> None:
    """Writes them into the working directory; a page's own examples replace those of the same name."""
    text = page.read_text(encoding="utf-8")
    labelled = [{**event(it.interaction), "label": it.truth} for it in labelled_answers(now)]
    traces = {name: _trace(name.encode() * 16) for name in ("a", "b")}
    files = dict.fromkeys(
        ("answers.jsonl", "events.jsonl", "export.jsonl"), _lines({**TEXTS, "id": f"new-{n}"} for n in range(3))
    )
    files |= dict.fromkeys(("spans.jsonl", "traces.json", "more-spans.json", "page-1.json"), _as_json(traces["a"]))
    if "--dialect acme" in text:  # the form that this page's package reads
        its = {"ask": "Open?", "said": "Yes.", "pages": ["It is open."]}
        files["events.jsonl"] = _lines({"acme": n, **its} for n in range(3))
    files |= {"labels.jsonl": _lines(labelled), "jan.jsonl": _lines(labelled[::2])}
    files |= {"rules.yaml": f"# third\n{RULES}", "monitor.toml": _settings(page)}
    if "--out mine.toml" not in text:
        shipped = (SHIPPED / "minilm-int8.toml").read_text(encoding="utf-8")
        files["mine.toml"] = shipped.replace('name = "minilm-int8"', 'name = "mine"')
    for match in _EXAMPLE.finditer(text):
        files[match["name"]] = re.sub(f"^{match['indent']}", "", match["content"], flags=re.MULTILINE)
    if "probe agreement" in text:
        answers = ((5, "14 days."), (1, "No."), (3, "Two."))
        files["labels.jsonl"] = _lines({**_SCORED, "answer": answer, "score": score} for score, answer in answers)
    files["bot.py"] = _BOT
    for name, content in files.items():
        Path(name).write_text(content, encoding="utf-8")
    Path("feb.jsonl.gz").write_bytes(gzip.compress(_lines(labelled[1::2]).encode()))
    Path("spans.pb").write_bytes(traces["b"].SerializeToString())
    _write_models_and_documents(text)


def _settings(page: Path) -> str:
    """The settings file that the page shows, if its commands go by that, or an empty one."""
    if str(page.relative_to(ROOT)) not in _BY_SETTINGS:
        return ""
    texts = (block.text for block in blocks(page) if block.language == "toml")
    return next(text for text in texts if tomllib.loads(text).keys() <= Settings.model_fields.keys())


def _write_models_and_documents(text: str) -> None:
    """A detector, a reranker and a knowledge base, if the page has them."""
    if "MONITOR_DETECTOR__PATH" in text:
        TinyModel(tokenizer=byte_tokenizer()).write(Path("detector"))
    if "MONITOR_RERANKER__PATH" in text:
        TinyModel(tokenizer=byte_tokenizer(), ranks=True).write(Path("reranker"))
    if "MONITOR_LOOKUP__DATABASE_URL" in text:
        with closing(sqlite3.connect("kb.sqlite")) as knowledge:
            knowledge.execute("CREATE TABLE chunks (id text, body text)")


def install(page: Path) -> None:
    """Lays the package that a page shows into the working directory, as an installer would."""
    (metadata,) = (block.text for block in blocks(page) if block.language == "toml")
    project = tomllib.loads(metadata)["project"]
    folder = Path(f"{project['name'].replace('-', '_')}-{project['version']}.dist-info")
    folder.mkdir()
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    points = ConfigParser()
    points.read_dict(project["entry-points"])
    with (folder / "entry_points.txt").open("w") as file:
        points.write(file)


def _lines(rows: Iterable[dict[str, object]]) -> str:
    return "".join(f"{json.dumps(row)}\n" for row in rows)


def _trace(trace_id: bytes) -> ExportTraceServiceRequest:
    """A chain with a retriever and a model call in it."""
    sent = ExportTraceServiceRequest()
    scoped = sent.resource_spans.add().scope_spans.add()
    for number, attributes in enumerate(_STEPS, start=1):
        span = scoped.spans.add(name="step", trace_id=trace_id, span_id=bytes([number]) * 8)
        span.parent_span_id = b"" if number == 1 else b"\1" * 8
        span.start_time_unix_nano, span.end_time_unix_nano = 10**18 + number, 10**18 + 10**9
        for key, value in attributes.items():
            span.attributes.add(key=key).value.string_value = value
    return sent


def _as_json(sent: ExportTraceServiceRequest) -> str:
    """OTLP's own JSON, in which ids are hexadecimal."""
    spans = [
        {
            "traceId": span.trace_id.hex(),
            "spanId": span.span_id.hex(),
            "parentSpanId": span.parent_span_id.hex(),
            "name": span.name,
            "startTimeUnixNano": str(span.start_time_unix_nano),
            "endTimeUnixNano": str(span.end_time_unix_nano),
            "attributes": [
                {"key": pair.key, "value": {"stringValue": pair.value.string_value}} for pair in span.attributes
            ],
        }
        for span in sent.resource_spans[0].scope_spans[0].spans
    ]
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}) + "\n"
