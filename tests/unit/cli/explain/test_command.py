"""Where `monitor explain` sends somebody who names an answer of the demo."""

from __future__ import annotations

from monitor.cli.explain.command import _in_the_demo, _none_stored

MEANT = [("quillmere-support", "demo-00763"), (None, "demo-00763")]


def test_an_answer_that_only_the_demo_has_is_found_by_the_line_that_is_printed(tmp_path, monkeypatch):
    monkeypatch.setenv("MONITOR_RULES", "rules.yaml")
    assert _in_the_demo(tmp_path, MEANT) is None
    (tmp_path / "demo").mkdir()
    hint = _in_the_demo(tmp_path, MEANT)
    assert hint.endswith(f"MONITOR_STATE_DIR={tmp_path / 'demo'} monitor explain demo-00763")
    assert "env -u MONITOR_RULES " in hint
    assert _in_the_demo(tmp_path, [("shop", "q-1")]) is None


def test_where_no_answer_can_be_listed_the_next_step_is_told(tmp_path):
    assert _none_stored(None, [], tmp_path / "demo") == (
        "no answer with a verdict is stored yet: `monitor replay FILE` stores some"
    )
    (tmp_path / "demo").mkdir()
    told = _none_stored("shop", [], tmp_path / "demo")
    assert told.endswith(f"; the demo's are in its own folder: MONITOR_STATE_DIR={tmp_path / 'demo'} monitor explain")
    assert _none_stored("shp", ["bank", "shop"], tmp_path).endswith("apps with answers: bank, shop")
