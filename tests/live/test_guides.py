"""The program of each guide ends in the turn that a person reads from it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.live.conftest import awaited, free_port, listens, monitoring, turns_of

LOANS = "Members may borrow ten books for four weeks."
HOURS = "The library is open from nine to six on weekdays."
HOW_MANY, WHEN = "How many books may members borrow?", "When is the library open?"
# guide, app, question, the document that holds the answer, conversation
GUIDES = [
    ("langchain", "library-bot", HOW_MANY, LOANS, "visit-1"),
    ("langgraph", "library-agent", WHEN, HOURS, "visit-2"),
    ("llamaindex", "library-index", HOW_MANY, LOANS, "visit-3"),
    ("haystack", "library-pipeline", HOW_MANY, LOANS, "visit-4"),
    ("openai", "library-plain", HOW_MANY, LOANS, "visit-5"),
    ("langfuse", "library-langfuse", HOW_MANY, LOANS, None),
    ("phoenix", "library-phoenix", HOW_MANY, LOANS, "visit-6"),
]


@pytest.fixture(scope="module")
def collecting(new_database, tmp_path_factory) -> Iterator[tuple[str, str, Path]]:
    """The endpoint of a running `monitor collect`, its database and its log."""
    folder, database = tmp_path_factory.mktemp("collect"), new_database()
    port = free_port()
    environment = {
        "MONITOR_DATABASE_URL": database,
        "MONITOR_STATE_DIR": str(folder / "state"),
        "MONITOR_COLLECT__PORT": str(port),
        "MONITOR_COLLECT__GRPC_PORT": "0",
        "MONITOR_COLLECT__CLOSE_AFTER": "1",
        "MONITOR_COLLECT__IDLE": "6",
    }
    log = folder / "log"
    with monitoring("collect", environment=environment, log=log):
        awaited(lambda: listens(port), log)
        yield f"http://127.0.0.1:{port}", database, log


@pytest.mark.parametrize(("guide", "app", "question", "document", "conversation"), GUIDES, ids=[g[0] for g in GUIDES])
def test_a_guides_program_ends_in_its_turn(guide, app, question, document, conversation, chatbot, collecting):
    endpoint, database, log = collecting

    said = chatbot(guide, endpoint)

    assert said.strip() == document
    (turn,) = awaited(lambda: [t for t in turns_of(database, app) if t["verdict"]], log)
    assert (turn["question"], turn["answer"]) == (question, document)
    assert [found["text"] for found in turn["retrieved_documents"]] == [document]
    assert (turn["model"], turn["conversation_id"], turn["verdict"]) == ("gpt-4o-mini", conversation, "grounded")
