"""What the calls of language models cost, by the settings."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime, timedelta

from monitor.app.wiring.models import chat_model
from monitor.assess.llm.exchange import Purpose
from monitor.core.settings.load import Settings
from monitor.core.settings.sections import LLMSettings
from monitor.simulate.fakes.flow import MemoryBudget

PRICES = """\
currency: EUR
models:
  - {model: kestrel-2, input: 2, output: 2}
  - {model: kestrel-2, input: 1, output: 1, from: 2026-12-01}
"""
BODY = {"max_completion_tokens": 100}
MIDNIGHT = datetime(2026, 12, 1, tzinfo=UTC)


def test_a_price_that_begins_while_the_process_runs_holds_from_then_on(tmp_path):
    (tmp_path / "prices.yaml").write_text(PRICES)
    settings = Settings(prices=tmp_path / "prices.yaml", llm=LLMSettings(model="kestrel-2", api_key="key"))
    moment = MIDNIGHT - timedelta(seconds=1)
    with closing(chat_model(settings, Purpose.JUDGE, MemoryBudget(), lambda: moment)) as model:
        before = model.most(BODY).cost
        moment = MIDNIGHT
        assert model.most(BODY).cost == before / 2
