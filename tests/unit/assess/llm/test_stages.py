"""Each request to a language model is a stage, with its model and tokens and without a word of it."""

from __future__ import annotations

from urllib.parse import urlsplit

from monitor.core.stage import observed_by
from tests.factories.assess.llm import ASKED
from tests.factories.stages import Recorder
from tests.servers.llm import CHAT_MODEL, server_error


def test_requests_are_stages_and_one_that_fails_is_told_by_its_error(server, make):
    server.chat_script.append(server_error())
    recorder = Recorder()
    with observed_by(recorder):
        spend = make().ask(ASKED).spend
    failed, answered = recorder.seen
    known = {"model": CHAT_MODEL, "server": urlsplit(server.base_url).netloc, "purpose": "sidecar"}
    assert (failed.name, failed.attributes) == ("chat", known)
    assert type(failed.error).__name__ == "Refused"
    used = {name: answered.attributes[name] for name in ("input_tokens", "output_tokens")}
    assert answered.attributes == {**known, **used}
    assert answered.error is None
    assert (spend.calls, spend.output_tokens) == (2, used["output_tokens"])
