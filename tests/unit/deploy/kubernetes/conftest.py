"""The pods of deploy/kubernetes, one after the other."""

from __future__ import annotations

import pytest

from tests.rig.deploy.kubernetes import BUILDS, pods

EVERY_POD = [(folder, name) for folder in BUILDS for name in ("scheduler", "consumer", "dashboard", "migrate")
             if (name == "migrate") is folder.endswith("migrate")]  # fmt: skip


@pytest.fixture(params=EVERY_POD, ids=lambda one: "-".join(one).replace("/", "-"))
def folder_and_pod(request):
    folder, name = request.param
    return folder, pods(folder)[f"monitor-{name}"]
