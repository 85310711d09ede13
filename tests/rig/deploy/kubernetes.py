"""What deploy/kubernetes makes, built by kustomize: its objects, the pods among them, and the settings of a process."""

from __future__ import annotations

import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from tests.rig.commands import ROOT
from tests.rig.deploy.dockerfile import LAST_STAGE, values
from tests.rig.deploy.process import settings_under
from tests.rig.services import missing

FOLDER = ROOT / "deploy/kubernetes"
VERSIONS = ("1.30", "1.37")  # the oldest that we claim, and the newest whose schemas are at hand
WHOLE = ("base", "overlays/production")
BUILDS = (*WHOLE, "migrate", "overlays/production/migrate")
WORKLOADS = {"Deployment", "Job"}
FOREIGN = {"keda.sh/v1alpha1", "monitoring.coreos.com/v1"}  # their schemas are not Kubernetes's
GUIDE = (ROOT / "docs/operate/kubernetes.md").read_text(encoding="utf-8")
SECRET_KEYS = set(re.findall(r"--from-(?:file|literal)=([\w-]+)", GUIDE))  # of the Secret that the guide makes
Object = dict[str, Any]


def kustomize() -> list[str]:
    """What builds: kustomize, or kubectl, which has one inside."""
    if found := shutil.which("kustomize") or shutil.which("kustomize", path=str(Path.home() / "go/bin")):
        return [found, "build"]
    if found := shutil.which("kubectl"):
        return [found, "kustomize"]
    return missing("kustomize is needed: go install sigs.k8s.io/kustomize/kustomize/v5@v5.7.1; kubectl has one inside")


def build(folder: Path) -> list[Object]:
    """The objects that a folder makes."""
    ended = subprocess.run([*kustomize(), folder], check=False, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    return list(YAML(typ="safe", pure=True).load_all(ended.stdout))


@cache
def built(folder: str) -> tuple[Object, ...]:
    """The objects that a folder of `FOLDER` makes."""
    return tuple(build(FOLDER / folder))


def of_kind(folder: str, *kinds: str) -> list[Object]:
    return [one for one in built(folder) if one["kind"] in kinds]


def named(folder: str, kind: str) -> dict[str, Object]:
    return {one["metadata"]["name"]: one for one in of_kind(folder, kind)}


def pods(folder: str) -> dict[str, Object]:
    """The templates of pods, by the name of what makes them."""
    return {one["metadata"]["name"]: one["spec"]["template"] for one in of_kind(folder, *WORKLOADS)}


def container(pod: Object) -> Object:
    (only,) = pod["spec"]["containers"]
    return only


def selected(selector: Object, labels: dict[str, str]) -> bool:
    """Whether a label selector takes an object with these labels."""
    assert selector.keys() <= {"matchLabels", "matchExpressions"}
    for expression in selector.get("matchExpressions", ()):
        assert expression["operator"] == "In"
        if labels.get(expression["key"]) not in expression["values"]:
            return False
    return selector.get("matchLabels", {}).items() <= labels.items()


def settings_of(folder: str, pod: Object, tmp_path: Path) -> Any:
    """The settings of a pod's process, with the image's environment under the pod's."""
    image = dict(word.split("=", 1) for word in " ".join(values("ENV", LAST_STAGE)).split())
    own = {variable["name"]: variable["value"] for variable in container(pod).get("env", ())}
    maps = named(folder, "ConfigMap")
    mounted = [maps[volume["configMap"]["name"]] for volume in pod["spec"]["volumes"] if "configMap" in volume]
    toml = mounted[0]["data"]["monitor.toml"] if mounted else ""
    return settings_under(image | own, tmp_path, toml=toml)
