"""Which metrics a path shows, over a real socket."""

from __future__ import annotations

import urllib.request
from typing import get_args
from urllib.error import HTTPError

import pytest
from prometheus_client.parser import text_string_to_metric_families

from monitor.app.metrics.installation import MetricName, StoreCollector
from monitor.app.metrics.pages import ALL, INSTALLATION, PROCESS, MetricsPages, served
from monitor.app.metrics.process import ProcessMetricName, ProcessMetrics
from monitor.core.errors import WrongSettings
from tests.factories.answers import clock
from tests.unit.app.metrics.test_installation import FIGURES

OURS = {name.removesuffix("_total") for name in get_args(MetricName)}
ITS = set(get_args(ProcessMetricName))


@pytest.fixture
def reads():
    return []


@pytest.fixture
def pages(reads):
    def read(now):
        reads.append(now)
        return FIGURES

    return MetricsPages(process=ProcessMetrics(), installation=StoreCollector(read, clock, ping=lambda: None))


def names(text):
    return {family.name for family in text_string_to_metric_families(text) if family.name.startswith("monitor_")}


@pytest.mark.parametrize(("path", "shown"), [(ALL, OURS | ITS), (PROCESS, ITS), (INSTALLATION, OURS)])
def test_each_path_shows_its_kind(pages, path, shown):
    with (
        served(pages, "127.0.0.1", 0) as port,
        urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=30) as answer,
    ):
        assert names(answer.read().decode()) == shown
    body, content_type = pages.page(path, "")
    assert names(body.decode()) == shown
    assert content_type.startswith("text/plain")


def test_the_page_of_the_process_does_not_ask_the_store(pages, reads):
    pages.page(PROCESS, "")
    assert reads == []
    pages.page(INSTALLATION, "")
    assert len(reads) == 1


def test_another_path_is_not_taken_for_everything(pages):
    with served(pages, "127.0.0.1", 0) as port, pytest.raises(HTTPError) as caught:
        urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics/proces", timeout=30)
    with caught.value as answer:
        assert answer.code == 404
        assert answer.read() == b"not here; there are /metrics, /metrics/process, /metrics/installation\n"


def test_nothing_is_served_without_a_port(pages):
    with served(pages, "127.0.0.1", None) as port:
        assert port is None


def test_a_host_that_is_not_ours_is_a_wrong_setting(pages):
    with pytest.raises(WrongSettings, match="MONITOR_METRICS__HOST"), served(pages, "203.0.113.1", 0):
        pass
