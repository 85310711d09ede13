from __future__ import annotations

from monitor.app.doctor.parts import check_reranker
from monitor.app.wiring.application import Application
from monitor.core.settings.load import load_settings
from tests.factories.assess.tiny_model import TinyModel, byte_tokenizer


def test_settings_bring_a_reranker_and_without_them_there_is_none(tmp_path):
    folder = TinyModel(tokenizer=byte_tokenizer(), ranks=True).write(tmp_path / "model")
    given = {"state_dir": tmp_path / "state", "embedding": {"provider": "hash"}}
    with Application(load_settings(**given, reranker={"path": folder, "device": "cpu"})) as application:
        assert application.assessing.reranker.device == "cpu"
        assert application.assessing.pipeline.reranker is application.assessing.reranker
        assert check_reranker(application) == f"{application.assessing.reranker.model} on cpu"
    with Application(load_settings(**given)) as application:
        assert application.assessing.reranker is None
        assert check_reranker(application) == "not set: MONITOR_RERANKER__PATH"
