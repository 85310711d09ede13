"""docker/compose.yaml, read without Docker: its form, the order in which services start, what it tells the program."""

from __future__ import annotations

import json
import re
import shutil
import stat
import subprocess
from importlib.resources import files
from urllib.parse import unquote, urlsplit

import jsonschema
import pytest
from psycopg.conninfo import conninfo_to_dict
from ruamel.yaml import YAML
from sqlalchemy.engine import make_url

from monitor.core.settings.load import Settings
from tests.rig.commands import ROOT
from tests.rig.deploy.dockerfile import PINNED
from tests.rig.deploy.process import settings_under, wrong_use

FOLDER = ROOT / "docker"
COMPOSE = YAML(typ="safe").load((FOLDER / "compose.yaml").read_text(encoding="utf-8"))
SERVICES = COMPOSE["services"]
OURS = {name: service for name, service in SERVICES.items() if service["image"] == "rag-monitor"}
ONCE = ["migrate", "first-token", "topics"]
SCHEMA = files("check_jsonschema").joinpath("builtin_schemas/vendor/compose-spec.json")
EVERY_PROFILE = {profile for service in SERVICES.values() for profile in service.get("profiles", ())}


def environment(service):
    return {name: value or None for name, _, value in (pair.partition("=") for pair in service.get("environment", ()))}


def starts_with(profile):
    return {name for name, service in SERVICES.items() if profile in service.get("profiles", [profile])}


@pytest.mark.parametrize("name", ["compose.yaml", "kafka.yaml"])
def test_it_has_the_form_of_a_compose_file(name):
    jsonschema.validate(
        YAML(typ="safe").load((FOLDER / name).read_text(encoding="utf-8")), json.loads(SCHEMA.read_text("utf-8"))
    )


def test_foreign_images_are_pinned_each_to_one_release():
    foreign = {service["image"] for name, service in SERVICES.items() if name not in OURS}
    assert all(PINNED.fullmatch(image) for image in foreign)
    assert len({image.partition(":")[0] for image in foreign}) == len(foreign)


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_may_do_no_more_than_it_has_to(name):
    service = SERVICES[name]
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert not service.get("privileged")
    assert service["deploy"]["resources"]["limits"].keys() == {"cpus", "memory"}
    assert service["read_only"] is (service["image"].partition(":")[0] != "apache/kafka")
    assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ()))


@pytest.mark.parametrize("name", SERVICES)
def test_who_waits_for_a_service_can_tell_that_it_is_there(name):
    for other, waits in SERVICES[name].get("depends_on", {}).items():
        if waits["condition"] == "service_completed_successfully":
            assert other in ONCE
            assert SERVICES[other]["restart"].startswith("on-failure")
        else:
            assert waits["condition"] == "service_healthy"
            assert other in OURS or SERVICES[other]["healthcheck"]["test"]  # ours have the image's


@pytest.mark.parametrize("name", ONCE)
def test_up_with_wait_takes_the_end_of_a_service_that_runs_once_for_success(name):
    waits = [service["depends_on"][name] for service in SERVICES.values() if name in service.get("depends_on", ())]
    assert {"condition": "service_completed_successfully"} in waits  # else Compose waits for it to stay up


@pytest.mark.parametrize("profile", ["", *sorted(EVERY_PROFILE)])
def test_what_a_service_waits_for_starts_with_it(profile):
    started = starts_with(profile)
    assert {other for name in started for other in SERVICES[name].get("depends_on", ())} <= started


def test_all_starts_everything():
    assert starts_with("all") == set(SERVICES)


@pytest.mark.parametrize("name", [name for name in OURS if name != "migrate"])
def test_nothing_of_ours_starts_before_the_migration(name):
    assert OURS[name]["depends_on"]["migrate"] == {"condition": "service_completed_successfully"}


@pytest.mark.parametrize("name", OURS)
def test_what_ours_are_told_are_settings_and_commands(name, tmp_path):
    service = OURS[name]
    settings = settings_under(environment(service), tmp_path)
    assert settings.database_url.get_secret_value().endswith("@postgres/monitor")
    if "entrypoint" not in service:
        assert wrong_use(service["command"]) is None
    for command in re.findall(r"monitor ([a-z].*?)(?: [|>].*|; .*|$)", " ".join(service["command"])):
        assert wrong_use(command.split()) is None, command


def settings_names(section, prefix="MONITOR_"):
    """The name in the environment of every setting."""
    for name, value in section.items():
        if isinstance(value, dict) and value:
            yield from settings_names(value, f"{prefix}{name.upper()}__")
        else:
            yield f"{prefix}{name.upper()}"


@pytest.mark.parametrize("name", ["compose.yaml", "kafka.yaml"])
def test_names_that_are_passed_on_are_settings(name):
    services = YAML(typ="safe").load((FOLDER / name).read_text(encoding="utf-8"))["services"]
    given = {key for service in services.values() for key in environment(service) if key.startswith("MONITOR_")}
    assert {key.removesuffix("_FILE") for key in given} <= set(settings_names(Settings().model_dump(mode="json")))


def test_the_consumer_reads_the_topic_that_is_made(tmp_path):
    kafka = settings_under(environment(SERVICES["consumer"]), tmp_path).kafka
    assert SERVICES["topics"]["command"][SERVICES["topics"]["command"].index("--topic") + 1] in kafka.topics
    assert f"INSIDE://{kafka.bootstrap_servers[0]}" in environment(SERVICES["kafka"])["KAFKA_ADVERTISED_LISTENERS"]


def test_what_is_mounted_is_declared_or_lies_in_the_repository():
    for service in SERVICES.values():
        for volume in service.get("volumes", ()):
            source = volume.partition(":")[0]
            if not source.startswith("."):
                assert source in COMPOSE["volumes"]
            elif source != "./events":  # docker/secrets.sh makes it
                assert (FOLDER / source).exists(), source


@pytest.fixture
def folder(tmp_path):
    """A copy of docker/ without secrets."""
    copy = tmp_path / "docker"
    copy.mkdir()
    shutil.copy(FOLDER / "secrets.sh", copy)
    return copy


def made(folder):
    subprocess.run([folder / "secrets.sh"], check=True)
    return {path.name: path.read_text() for path in (folder / "secrets").iterdir()}


def test_the_script_makes_the_secrets_that_services_are_given_once(folder):
    secrets = made(folder)
    assert {f"./secrets/{name}" for name in secrets} == {secret["file"] for secret in COMPOSE["secrets"].values()}
    assert {name for service in SERVICES.values() for name in service.get("secrets", ())} == set(COMPOSE["secrets"])
    assert len(secrets["postgres-password"]) == len(secrets["grafana-password"]) == 48
    assert secrets["database-url"] == f"postgresql://monitor:{secrets['postgres-password']}@postgres/monitor"
    assert stat.S_IMODE((folder / "secrets").stat().st_mode) == 0o700
    assert made(folder) == secrets


@pytest.mark.parametrize(
    ("written", "password"),
    [
        ("c0ffee", "c0ffee"),
        ('"c0ffee"', "c0ffee"),
        ("'c0ffee'", "c0ffee"),
        ("c0ffee  # of the database", "c0ffee"),
        ("'c0ffee' # of the database", "c0ffee"),
        ('"co ffee#1"', "co ffee#1"),
        ("c0ffee#1\r", "c0ffee#1"),
        ('"p@ss/w:rd?%20"', "p@ss/w:rd?%20"),
        ("'pa$s\"wörd'", 'pa$s"wörd'),
    ],
)
def test_an_installation_of_an_earlier_release_keeps_its_password(folder, written, password):
    """Both files hold it as Compose gave it to the database, and the URL can be read."""
    (folder / ".env").write_text(f"POSTGRES_PASSWORD=old\nPOSTGRES_PASSWORD={written}\nMONITOR_PUBLIC_URL=http://x\n")
    secrets = made(folder)
    assert secrets["postgres-password"] == password
    parts = urlsplit(secrets["database-url"])
    assert (parts.username, unquote(parts.password), parts.hostname, parts.path) == (
        "monitor",
        password,
        "postgres",
        "/monitor",
    )
    assert make_url(secrets["database-url"]).password == password
    assert conninfo_to_dict(secrets["database-url"])["password"] == password
    assert made(folder) == secrets


@pytest.mark.parametrize("written", ["pa$s", '"pa$s"', '"pa\\ns"', "'pa\\'s'"])
def test_a_password_that_compose_may_have_changed_is_asked_for(folder, written):
    (folder / ".env").write_text(f"POSTGRES_PASSWORD={written}\n")
    ended = subprocess.run([folder / "secrets.sh"], check=False, capture_output=True, text=True)
    assert ended.returncode == 1
    assert "write the password itself to docker/secrets/postgres-password" in ended.stderr
    assert list((folder / "secrets").iterdir()) == []
    (folder / "secrets/postgres-password").write_text("pa$s")
    assert made(folder)["database-url"] == "postgresql://monitor:%70%61%24%73@postgres/monitor"
