"""The scripted LLM server started from a shell."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import openai
import pytest

from tests.rig.assess.llm_client import ask

ROOT = Path(__file__).parents[4]
BY_HAND = [sys.executable, "-m", "tests.servers.llm"]


def test_a_port_that_is_taken_is_said_in_a_line(server):
    port = server.base_url.split(":")[2].removesuffix("/v1")
    ended = subprocess.run([*BY_HAND, "--port", port], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (1, f"127.0.0.1:{port}: Address already in use\n")


def test_runs_by_hand():
    command = [*BY_HAND, "--port", "0", "--fail-rate", "0.5"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            base_url = process.stdout.readline().split()[0]
            with openai.OpenAI(base_url=base_url, api_key="anything", max_retries=0) as client:
                ask(client)
                with pytest.raises(openai.InternalServerError):
                    ask(client)
            lines = [process.stdout.readline() for _ in range(2)]
        finally:
            process.send_signal(signal.SIGINT)
    assert [" ".join(text.split()[:4]) for text in lines] == [
        "POST /v1/chat/completions → 200",
        "POST /v1/chat/completions → 500",
    ]
    assert process.returncode == 0
