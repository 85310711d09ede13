"""Replies of a batch, which came by another way than a call."""

from __future__ import annotations

import pytest

from monitor.assess.llm.exchange import NoAnswer, Spend
from tests.factories.assess.llm import ASKED, GOOD, OPINION

RESERVED = Spend(calls=1, input_tokens=20, output_tokens=30)


def body_of(content: str) -> dict[str, object]:
    message = {"role": "assistant", "content": content, "refusal": None}
    usage = {"prompt_tokens": 300, "completion_tokens": 100}
    return {"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}


def test_a_reply_of_a_batch_has_its_discount(make, budget):
    reply = make().read(ASKED, body_of(GOOD), reserved=RESERVED, discount=0.5)
    assert reply.value == OPINION
    assert reply.spend == Spend(calls=1, input_tokens=300, output_tokens=100, cost=400 * 2 / 1e6 / 2)
    assert (budget.reserved, budget.counted) == ([], {})  # whoever sent the batch has reserved it, and settles


@pytest.mark.parametrize(("body", "spent"), [(None, 50), ([], 50), ({"choices": []}, 50), (body_of("what?"), 400)])
def test_a_reply_of_a_batch_that_does_not_fit_is_none(make, body, spent):
    with pytest.raises(NoAnswer) as caught:
        make().read(ASKED, body, reserved=RESERVED, discount=0.5)
    assert caught.value.reason == "malformed"
    assert caught.value.spend.input_tokens + caught.value.spend.output_tokens == spent
