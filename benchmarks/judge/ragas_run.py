"""Scores interactions with ragas 0.4.3: faithfulness, answer relevancy and context relevance, with the time it takes.

    FOLDER/bin/python benchmarks/judge/ragas_run.py --base-url URL --api-key KEY --model NAME --embedding-model NAME
                                                    --input FILE --output FILE --concurrency N

It runs in a virtual environment of its own (benchmarks/judge/ragas-requirements.txt) and imports nothing of `monitor`.
The input has one JSON object per line: id, question, answer, documents (a list of texts).

The metrics are those of `ragas.metrics.collections`, as in ragas's README. `evaluate()` and the metrics that it takes
are deprecated. They ask for the three questions in one call, but block the event loop for each embedding, so nothing
else proceeds meanwhile: that is faster only if an embedding takes next to no time. Like the `max_workers` of
`evaluate()`, a semaphore limits the work to N scores at a time; a score makes its calls one after another, so at most N
are in flight. Nothing is retried, and no telemetry goes to the makers of ragas. The first failure ends the run, except
one of context relevance, which ragas hides: if both its calls fail, that score is null.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import os
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

os.environ["RAGAS_DO_NOT_TRACK"] = "true"  # ragas reads it once

import ragas
from openai import AsyncOpenAI
from ragas.embeddings import OpenAIEmbeddings
from ragas.llms import llm_factory
from ragas.metrics.collections import AnswerRelevancy, ContextRelevance, Faithfulness

Score = Callable[[dict[str, Any]], Awaitable[Any]]


def metrics(client: AsyncOpenAI, model: str, embedding_model: str) -> dict[str, Score]:
    """The function that gets each score of an interaction."""
    llm = llm_factory(model, client=client, max_retries=0)
    faithfulness = Faithfulness(llm=llm)
    relevancy = AnswerRelevancy(llm=llm, embeddings=OpenAIEmbeddings(client=client, model=embedding_model))
    relevance = ContextRelevance(llm=llm, max_retries=1)
    return {
        "faithfulness": lambda given: faithfulness.ascore(
            user_input=given["question"], response=given["answer"], retrieved_contexts=given["documents"]
        ),
        "answer_relevancy": lambda given: relevancy.ascore(user_input=given["question"], response=given["answer"]),
        "context_relevance": lambda given: relevance.ascore(
            user_input=given["question"], retrieved_contexts=given["documents"]
        ),
    }


async def scored(
    client: AsyncOpenAI, arguments: argparse.Namespace, interactions: list[dict[str, Any]]
) -> dict[str, Any]:
    """The scores of each interaction, and the seconds that all of them took together."""
    of = metrics(client, arguments.model, arguments.embedding_model)
    free = asyncio.Semaphore(arguments.concurrency)

    async def one(found: dict[str, Any], name: str, given: dict[str, Any]) -> None:
        async with free:
            value = (await of[name](given)).value
        found[name] = None if math.isnan(value) else value

    rows = [{"id": given["id"], **dict.fromkeys(of)} for given in interactions]
    begin = time.perf_counter()
    async with asyncio.TaskGroup() as tasks:
        for given, found in zip(interactions, rows, strict=True):
            for name in of:
                tasks.create_task(one(found, name, given))
    return {"ragas": ragas.__version__, "seconds": time.perf_counter() - begin, "interactions": rows}


async def run(arguments: argparse.Namespace, interactions: list[dict[str, Any]]) -> dict[str, Any]:
    async with AsyncOpenAI(base_url=arguments.base_url, api_key=arguments.api_key, max_retries=0) as client:
        return await scored(client, arguments, interactions)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("base-url", "api-key", "model", "embedding-model"):
        parser.add_argument(f"--{name}", required=True)
    for name in ("input", "output"):
        parser.add_argument(f"--{name}", required=True, type=Path)
    parser.add_argument("--concurrency", required=True, type=int)
    arguments = parser.parse_args()
    with arguments.input.open(encoding="utf-8") as lines:
        interactions = [json.loads(line) for line in lines]
    found = asyncio.run(run(arguments, interactions))
    arguments.output.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
