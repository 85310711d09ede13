from __future__ import annotations

import json
import re
import sys
import tomllib
from importlib.metadata import distribution
from pathlib import Path

import pytest
from typer.testing import CliRunner

from monitor.app.doctor.examine import _CHECKS
from monitor.app.wiring.application import Application
from monitor.cli.app import app
from monitor.cli.collect import _with_grpc_or_without
from monitor.core.errors import WrongSettings
from monitor.core.installed.extras import _MODULES, require
from monitor.core.settings.collect import CollectSettings
from monitor.core.settings.load import Settings
from monitor.core.settings.web import OidcSettings

ROOT = Path(__file__).parents[4]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


PROVIDER = {"issuer": "https://id.example.org", "client_id": "monitor", "viewers": "*"}


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


def test_the_documentation_lists_every_extra():
    page = (ROOT / "docs" / "operate" / "README.md").read_text()
    assert set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)) == PROJECT["optional-dependencies"].keys()


def test_time_stamps_of_an_authority_need_their_client_and_those_of_a_calendar_do_not(without, tmp_path):
    without("timestamps")
    calendar = Settings(state_dir=tmp_path, audit={"calendar_url": "http://127.0.0.1:9"})
    with Application(calendar) as application:
        assert [authority.name for authority in application.auditing.authorities()] == ["127.0.0.1:9"]
    authority = Settings(state_dir=tmp_path, audit={"timestamp_url": "http://127.0.0.1:9"})
    with Application(authority) as application, pytest.raises(WrongSettings, match=r"rag-monitor\[timestamps\]"):
        application.auditing.authorities()


@pytest.mark.parametrize("use", ["detector", "reranker"])
def test_a_model_of_ones_own_needs_what_reads_its_tokenizer(use, without, tmp_path):
    without("tokenizers")
    needed = rf"^MONITOR_{use.upper()}__PATH needs the package tokenizers: pip install 'rag-monitor\[tokenizers\]'$"
    settings = Settings(state_dir=tmp_path, **{use: {"path": tmp_path}})
    with Application(settings) as application, pytest.raises(WrongSettings, match=needed):
        getattr(application.assessing, use)


def test_collect_says_at_once_how_to_have_grpc_or_do_without(without, tmp_path, monkeypatch):
    without("grpc")
    monkeypatch.setenv("MONITOR_STATE_DIR", str(tmp_path))
    monkeypatch.setenv("MONITOR_COLLECT__GRPC_PORT", "4317")
    result = CliRunner().invoke(app, ["collect"])
    assert isinstance(result.exception, WrongSettings)
    assert str(result.exception) == (
        "OTLP over gRPC needs the package grpcio: pip install 'rag-monitor[grpc]', "
        "or leave it out: MONITOR_COLLECT__GRPC_PORT=off"
    )
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setenv("MONITOR_COLLECT__GRPC_PORT", "off")
    assert Settings().collect.grpc_port is None


def test_the_doctor_names_each_setting_that_needs_an_extra_which_is_missing(without, monkeypatch):
    for extra in ("grpc", "oidc", "otel", "timestamps"):
        without(extra)
    ours = ("collect", "sign-in", "traces", "time stamps")
    monkeypatch.setattr("monitor.app.doctor.examine._CHECKS", [check for check in _CHECKS if check.name in ours])

    def found() -> dict[str, dict]:
        return {its["check"]: its for its in json.loads(CliRunner().invoke(app, ["doctor", "--json"]).output)}

    assert [its["good"] for its in found().values()] == [True] * 4
    assert "by gRPC too: pip install 'rag-monitor[grpc]'" in found()["collect"]["detail"]
    monkeypatch.setenv("MONITOR_COLLECT__GRPC_PORT", "4317")
    for name, value in PROVIDER.items():
        monkeypatch.setenv(f"MONITOR_WEB__OIDC__{name.upper()}", value)
    monkeypatch.setenv("MONITOR_TRACING__ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("MONITOR_AUDIT__TIMESTAMP_URL", "http://127.0.0.1:9")
    assert [its["good"] for its in found().values()] == [False] * 4
    named = [its["detail"].partition(" needs the package ")[0] for its in found().values()]
    assert named == [
        "OTLP over gRPC",
        "MONITOR_WEB__OIDC__ISSUER",
        "MONITOR_TRACING__ENDPOINT",
        "MONITOR_AUDIT__TIMESTAMP_URL",
    ]
    assert all(its["mended_by"].startswith("install it") for its in found().values())
    assert CliRunner().invoke(app, ["doctor"]).exit_code == 1


def test_sign_in_by_a_provider_needs_what_checks_its_tokens(without):
    oidc = OidcSettings(**PROVIDER)
    assert oidc.redirect_uri("https://monitor.example.org/") == "https://monitor.example.org/signin/oidc/callback"
    with pytest.raises(WrongSettings, match="MONITOR_PUBLIC_URL"):
        oidc.redirect_uri(None)
    without("oidc")
    needed = r"^MONITOR_WEB__OIDC__ISSUER needs the package joserfc: pip install 'rag-monitor\[oidc\]'$"
    with pytest.raises(WrongSettings, match=needed):
        oidc.redirect_uri("https://monitor.example.org")
    assert OidcSettings().redirect_uri(None) is None


def test_the_port_of_grpc_is_a_number_or_off():
    assert CollectSettings(grpc_port="4317").grpc_port == 4317
    with pytest.raises(ValueError, match="grpc_port"):
        CollectSettings(grpc_port="of")


def test_collect_takes_http_only_where_nobody_asked_for_grpc_and_its_package_is_missing(without, caplog):
    assert _with_grpc_or_without(CollectSettings()).grpc_port == 4317
    without("grpc")
    assert _with_grpc_or_without(CollectSettings()).grpc_port is None
    assert caplog.messages == ["OTLP is taken over HTTP only; for gRPC too: pip install 'rag-monitor[grpc]'"]
    assert _with_grpc_or_without(CollectSettings(grpc_port="off")).grpc_port is None
    assert len(caplog.messages) == 1
