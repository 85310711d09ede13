"""Runs the scripted server until Ctrl-C or SIGTERM, for any client."""

from __future__ import annotations

import signal
import sys
from argparse import ArgumentDefaultsHelpFormatter, ArgumentParser, ArgumentTypeError
from threading import Event
from typing import Any

from tests.servers.llm import CHAT_MODEL, llm_server

ANY = "any"


def main() -> None:
    options = _parser().parse_args()
    settings = {
        "latency": options.latency,
        "fail_rate": options.fail_rate,
        "key": None if options.key == ANY else options.key,
        "chat_models": set(options.chat_model),
        "structured": options.structured,
    }
    try:
        _run(options.port, options.key, settings)
    except OSError as error:
        sys.exit(f"127.0.0.1:{options.port}: {error.strerror}")


def _run(port: int, key: str, settings: dict[str, Any]) -> None:
    stop = Event()
    for number in (signal.SIGINT, signal.SIGTERM):  # a shell starts background jobs with SIGINT ignored
        signal.signal(number, lambda *_: stop.set())
    with llm_server(port=port, log=_say, **settings) as server:
        chat, embeddings = ", ".join(sorted(server.chat_models)), ", ".join(server.models)
        _say(f"{server.base_url}  (key: {key}; chat: {chat}; embeddings: {embeddings}; Ctrl-C ends)")
        stop.wait()


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        prog="python -m tests.servers.llm",
        description="An OpenAI-compatible server on 127.0.0.1 whose answers are made up: chat completions valid for "
        "the JSON schema asked for, embeddings, models, files, batches. It prints its base URL and a line a request.",
        formatter_class=ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("--port", type=int, default=8080, help="0 chooses a free port")
    parser.add_argument("--key", default=ANY, help=f"the API key that is required; '{ANY}' accepts every key")
    parser.add_argument("--latency", type=_not_negative, default=0.0, help="seconds before every regular answer")
    parser.add_argument(
        "--fail-rate",
        type=_share,
        default=0.0,
        help="share of the requests that get a 429, a 500 or no answer, in turn",
    )
    parser.add_argument(
        "--chat-model", nargs="+", default=[CHAT_MODEL], metavar="NAME", help="the available chat models"
    )
    parser.add_argument(
        "--structured",
        choices=["json_schema", "json_object", "text"],
        default="json_schema",
        help="the strictest response_format that the server accepts",
    )
    return parser


def _not_negative(text: str) -> float:
    number = float(text)
    if not 0 <= number < float("inf"):
        raise ArgumentTypeError(f"{text} is not 0 or more")
    return number


def _share(text: str) -> float:
    number = float(text)
    if not 0 <= number <= 1:
        raise ArgumentTypeError(f"{text} is not between 0 and 1")
    return number


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
