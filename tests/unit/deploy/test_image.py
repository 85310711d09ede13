"""docker/Dockerfile and what it copies, read without Docker; `tools/image.py` runs its steps."""

from __future__ import annotations

import json
import re
import tomllib

import pytest

from monitor.core.settings.load import PREFIX
from tests.rig.commands import ROOT
from tests.rig.deploy.dockerfile import LAST_STAGE, PINNED, STEPS, values
from tests.rig.deploy.process import settings_under, wrong_use
from tools.image import KNOWN

SENT = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}


def environment():
    words = " ".join(values("ENV")).split()
    return dict(word.split("=", 1) for word in words)


def test_the_base_is_pinned_by_its_digest():
    assert values("FROM", STEPS) == ["${PYTHON} AS build", "${PYTHON}"]
    (base,) = (value for value in values("ARG", STEPS) if value.startswith("PYTHON="))
    assert PINNED.fullmatch(base.removeprefix("PYTHON="))


@pytest.mark.parametrize(
    "reference",
    ["python:3.13-slim", "python@sha256:" + "0" * 64, "python:3.13-slim@sha256:" + "0" * 63, "python:3.13@sha256:x"],
)
def test_what_is_no_digest_with_its_tag_is_seen(reference):
    assert not PINNED.fullmatch(reference)


def test_it_runs_as_a_user_who_is_known_by_number():
    (user,) = values("USER")
    assert re.fullmatch(r"[1-9]\d{3,}:[1-9]\d{3,}", user)
    uid, gid = user.split(":")
    assert f"--uid {uid} --gid {gid}" in values("RUN")[0]
    after = LAST_STAGE[[name for name, _ in LAST_STAGE].index("USER") :]
    assert {name for name, _ in after}.isdisjoint({"RUN", "COPY"})  # nothing belongs to the user but its state


def test_what_it_copies_exists_and_is_sent_to_the_builder():
    copied = [value.split()[:-1] for value in values("COPY", STEPS) if not value.startswith("--from=")]
    names = {name for names in copied for name in names}
    assert names == SENT
    assert all((ROOT / name).exists() for name in names)
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    built_from = {source.split("/")[0] for source in (*wheel["packages"], *wheel["force-include"])}
    assert built_from <= {name.strip("./") for name in names}


def test_its_health_check_and_commands_exist():
    (health,) = values("HEALTHCHECK")
    assert "--start-interval" not in health  # Docker before 25 and Podman 4.3 end the build at it
    check = json.loads(health[health.index("[") :])
    assert check[0] == "monitor"
    assert wrong_use(check[1:]) is None
    assert json.loads(values("ENTRYPOINT")[0]) == ["monitor"]
    assert values("STOPSIGNAL") == ["SIGTERM"]


def test_its_environment_is_of_settings_and_writes_nothing_beside_its_volume(tmp_path):
    given = environment()
    settings = settings_under({name: value for name, value in given.items() if name.startswith(PREFIX)}, tmp_path)
    assert values("VOLUME") == [str(settings.state_dir)]
    assert given["PYTHONDONTWRITEBYTECODE"] == "1"
    assert {str(settings.metrics.port), str(settings.web.port)} < set(values("EXPOSE")[0].split())


def test_it_has_every_extra_that_needs_no_other_hardware_and_no_other_weights():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    asked = re.findall(r"--extra (\w+)", (ROOT / "Makefile").read_text())
    assert set(asked) == extras.keys() - {"gpu", "fp32"}
    locked = set(re.findall(r"^([\w.-]+)==", (ROOT / "requirements-image.lock").read_text(), re.MULTILINE))
    wanted = {
        re.match(r"[\w.-]+", requirement)[0] for name in extras.keys() - {"gpu", "fp32"} for requirement in extras[name]
    }
    assert wanted <= locked


def test_its_labels_name_the_version_of_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert f"VERSION={project['version']}" in values("ARG")
    labels = " ".join(values("LABEL"))
    assert f'org.opencontainers.image.description="{project["description"]}"' in labels
    assert f'org.opencontainers.image.licenses="{project["license"]}"' in labels


def test_the_tool_that_runs_its_steps_knows_them():
    assert {name for name, _ in STEPS} <= KNOWN
