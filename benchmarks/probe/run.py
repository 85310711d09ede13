"""Measures how fast a probe gets through its conversations, and what a question costs in calls and tokens.

    python benchmarks/probe/run.py [--json PATH] [--short]

A hundred golden questions, conversations of five turns, with a scripted chatbot and a scripted language model that each
take 300 ms for an answer, over real HTTP. *serial* is the time that the calls alone would take one after the other; the
ratio is that by the wall time of the run, with 16 conversations at a time. The leak guard's encoder runs as usual.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from time import perf_counter, sleep
from typing import Any

from typing_extensions import override

from benchmarks.figures import finish, options
from monitor.assess.embed.minilm import MiniLMEmbedder
from monitor.assess.judge.correctness.grader import CorrectnessGrader
from monitor.assess.llm.client import ChatModel
from monitor.assess.llm.exchange import Purpose, Spend
from monitor.core.settings.load import load_settings
from monitor.probe.contexts import ByQuestionAndReference, Collection
from monitor.probe.conversation.converse import converse
from monitor.probe.conversation.roles import Roles
from monitor.probe.golden import GoldenItem
from monitor.probe.result import ItemResult
from monitor.probe.run import run_items
from monitor.probe.targets.http import HttpSpec, HttpTarget
from monitor.probe.targets.json_path import parse_json_path
from monitor.simulate.fakes.flow import MemoryBudget
from tests.servers.llm import llm_server
from tests.servers.llm.conversing import conversing

QUESTIONS, SHORT, TURNS, CONCURRENCY = 100, 16, 5, 16
LATENCY = 0.3  # seconds


def main() -> None:
    asked = options(__doc__, "sixteen questions")
    items = [
        GoldenItem(
            id=f"q{n}",
            question=f"How long is the warranty of the kettle K-{n}?",
            reference=f"The kettle K-{n} has a warranty of {n + 100} months, which begins when it is delivered.",
        )
        for n in range(SHORT if asked.short else QUESTIONS)
    ]
    results: list[ItemResult] = []
    with ExitStack() as stack:
        llm = stack.enter_context(llm_server(answer=conversing, latency=LATENCY, key=None, chat_models={"judge"}))
        url = stack.enter_context(_chatbot())
        encoder = MiniLMEmbedder(cache_dir=load_settings().state_dir / "cache")
        stack.callback(encoder.close)
        model = ChatModel(
            model="judge",
            api_key="x",
            base_url=llm.base_url,
            purpose=Purpose.PROBE,
            budget=MemoryBudget(),
            concurrency=CONCURRENCY,
        )
        stack.callback(model.close)
        spec = HttpSpec(
            url=url, body={"question": "{question}", "history": "{history}"}, answer=parse_json_path("$.answer")
        )
        target = HttpTarget(spec, timeout=30.0, per_second=None)
        stack.callback(target.close)
        contexts = ByQuestionAndReference(Collection([item.reference for item in items], encoder))
        grader, roles = CorrectnessGrader(model), Roles(model, encoder=encoder)

        def one(place: int, item: GoldenItem) -> ItemResult:
            return converse(
                item, target=target, grader=grader, contexts=contexts, roles=roles, turns=TURNS, conversation=str(place)
            )

        began = perf_counter()
        run_items(items, one, concurrency=CONCURRENCY, stop=Event(), done=lambda _, result: results.append(result))
        wall = perf_counter() - began
    assert len(results) == len(items)
    assert all(len(result.turns) == TURNS for result in results)
    spend = sum((result.spend for result in results), Spend())
    chatbot_calls = sum(len(result.turns) for result in results)
    serial = (spend.calls + chatbot_calls) * LATENCY
    figures: dict[str, object] = {
        "questions": len(items),
        "turns": TURNS,
        "concurrency": CONCURRENCY,
        "latency_seconds": LATENCY,
        "wall_seconds": round(wall, 2),
        "serial_seconds": round(serial, 1),
        "ratio": round(serial / wall, 1),
        "chatbot_calls_per_question": chatbot_calls / len(items),
        "model_calls_per_question": round(spend.calls / len(items), 2),
        "input_tokens_per_question": round(spend.input_tokens / len(items)),
        "output_tokens_per_question": round(spend.output_tokens / len(items)),
    }
    for name, value in figures.items():
        print(f"{name:28} {value}")
    finish(figures, seed=None, path=asked.json)


class _Chatbot(BaseHTTPRequestHandler):
    """Answers with another wrong figure each time, so that each conversation takes all its turns."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        sleep(LATENCY)
        answer = f"That is {len(asked['history']) // 2 + 1} months, as far as the papers here say."
        body = json.dumps({"answer": answer}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    @override
    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""


@contextmanager
def _chatbot() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Chatbot)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/chat"
    finally:
        server.shutdown()
        server.server_close()


if __name__ == "__main__":
    main()
