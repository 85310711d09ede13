from __future__ import annotations

import sys
import tomllib
from contextlib import ExitStack
from datetime import UTC, datetime
from importlib.metadata import distribution
from pathlib import Path

import pytest
from typer.testing import CliRunner

from monitor.app.wiring.application import Application
from monitor.app.wiring.models import batch_endpoint, chat_model, embedder
from monitor.assess.llm.exchange import Purpose
from monitor.cli.app import app
from monitor.cli.demo.with_llm import with_llm
from monitor.core.errors import WrongSettings
from monitor.core.extras import _MODULES, require
from monitor.core.settings.collect import CollectSettings
from monitor.core.settings.load import Settings
from monitor.core.settings.sections import LLMSettings
from monitor.simulate.fakes.flow import MemoryBudget

PROJECT = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())["project"]


@pytest.fixture
def without(monkeypatch):
    return lambda extra: monkeypatch.setitem(sys.modules, _MODULES[extra][0], None)


@pytest.mark.parametrize("extra", _MODULES)
def test_what_is_missing_is_named_with_the_command_that_brings_it(extra, without):
    require(extra, "this")
    without(extra)
    with pytest.raises(WrongSettings, match=rf"^this needs the package \S+: pip install 'rag-monitor\[{extra}\]'$"):
        require(extra, "this")
    with pytest.raises(WrongSettings, match=r"\]', or do that$"):
        require(extra, "this", otherwise="do that")


@pytest.mark.parametrize("extra", _MODULES)
def test_each_extra_brings_its_package_and_nothing_else_does(extra):
    module, package = _MODULES[extra]
    assert package in [need.split(">")[0] for need in PROJECT["optional-dependencies"][extra]]
    assert not any(need.startswith(package) for need in PROJECT["dependencies"])
    assert any(file.parent.as_posix() == module.replace(".", "/") for file in distribution(package).files)


def test_language_models_and_remote_embeddings_need_openai(without, tmp_path):
    without("openai")
    settings = Settings(
        llm=LLMSettings(model="kestrel-2", api_key="key"), embedding={"provider": "openai", "api_key": "key"}
    )
    wanted = r"rag-monitor\[openai\]"
    for purpose in Purpose:
        with pytest.raises(WrongSettings, match=wanted):
            chat_model(settings, purpose, MemoryBudget(), lambda: datetime.now(UTC))
    with pytest.raises(WrongSettings, match=f"^the judge needs .*{wanted}"):
        batch_endpoint(settings)
    with pytest.raises(WrongSettings, match=f"^--llm needs .*{wanted}"):
        with_llm(settings, "http://127.0.0.1:9/v1")
    with ExitStack() as closing, pytest.raises(WrongSettings, match=f"MONITOR_EMBEDDING__PROVIDER=openai .*{wanted}"):
        embedder(settings, tmp_path, closing)


def test_time_stamps_of_an_authority_need_their_client_and_those_of_a_calendar_do_not(without, tmp_path):
    without("timestamps")
    calendar = Settings(state_dir=tmp_path, audit={"calendar_url": "http://127.0.0.1:9"})
    with Application(calendar) as application:
        assert [authority.name for authority in application.auditing.authorities()] == ["127.0.0.1:9"]
    authority = Settings(state_dir=tmp_path, audit={"timestamp_url": "http://127.0.0.1:9"})
    with Application(authority) as application, pytest.raises(WrongSettings, match=r"rag-monitor\[timestamps\]"):
        application.auditing.authorities()


def test_collect_says_at_once_how_to_have_grpc_or_do_without(without, tmp_path, monkeypatch):
    without("grpc")
    monkeypatch.setenv("MONITOR_STATE_DIR", str(tmp_path))
    result = CliRunner().invoke(app, ["collect"])
    assert isinstance(result.exception, WrongSettings)
    assert str(result.exception) == (
        "OTLP over gRPC needs the package grpcio: pip install 'rag-monitor[grpc]', "
        "or leave it out: MONITOR_COLLECT__GRPC_PORT=off"
    )
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setenv("MONITOR_COLLECT__GRPC_PORT", "off")
    assert Settings().collect.grpc_port is None


def test_the_port_of_grpc_is_a_number_or_off():
    assert CollectSettings(grpc_port="4317").grpc_port == 4317
    with pytest.raises(ValueError, match="grpc_port"):
        CollectSettings(grpc_port="of")
