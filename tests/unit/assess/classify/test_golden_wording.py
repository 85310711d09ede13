from __future__ import annotations

import json
from pathlib import Path

import pytest

from monitor.assess.classify.refusal import refusal_kind
from monitor.core.model import RefusalKind

GOLDEN = Path(__file__).parents[3] / "golden" / "interactions.jsonl"
INTERACTIONS = [json.loads(line) for line in GOLDEN.read_text(encoding="utf-8").splitlines()]

# What the wording says of these today, and not what a reader does.
KNOWN_BLIND_SPOTS: dict[str, RefusalKind] = {}


@pytest.mark.parametrize("item", INTERACTIONS, ids=lambda item: item["id"])
def test_the_wording_says_what_a_reader_says(item):
    kind = refusal_kind(item["answer"])
    if not item["answer"].strip():
        assert kind is RefusalKind.NONE  # nothing is worded; `classify` sees that it is empty
    elif item["id"] in KNOWN_BLIND_SPOTS:
        assert kind is KNOWN_BLIND_SPOTS[item["id"]]
        assert kind != item["expect"]["refusal_kind"], "mended: take it off the list"
    else:
        assert kind == item["expect"]["refusal_kind"]


def test_blind_spots_are_lines_of_the_file():
    assert set(KNOWN_BLIND_SPOTS) <= {item["id"] for item in INTERACTIONS}
    assert len(INTERACTIONS) == len({item["id"] for item in INTERACTIONS}) >= 94
