"""A detector that the settings name: its score joins the features of an assessment."""

from __future__ import annotations

from monitor.app.wiring.application import Application
from monitor.core.settings.load import load_settings
from tests.factories.assess.interactions import interaction
from tests.factories.assess.tiny_model import TinyModel, byte_tokenizer


def test_the_score_of_a_configured_detector_is_a_feature(tmp_path):
    folder = TinyModel(tokenizer=byte_tokenizer()).write(tmp_path / "model")
    settings = load_settings(
        state_dir=tmp_path / "state", embedding={"provider": "hash"}, detector={"path": folder, "device": "cpu"}
    )
    with Application(settings) as application:
        (with_documents, without) = application.assessing.pipeline.assess(
            [interaction("Where?", "Here.", ["Here it is."]), interaction("Where?", "Here.", [])]
        )
        assert application.assessing.detector.device == "cpu"
    assert 0 <= with_documents.evidence.features["detector"] <= 1
    assert without.evidence.features["detector"] is None
