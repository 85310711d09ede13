"""The steps of docker/Dockerfile, and what a pinned image looks like."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dockerfile_parse import DockerfileParser

from tests.rig.commands import ROOT

PINNED = re.compile(r"[a-z0-9./-]+:[\w.-]+@sha256:[0-9a-f]{64}")
DOCKERFILE = DockerfileParser(path=str(ROOT / "docker/Dockerfile"))
STEPS = [(step["instruction"], step["value"]) for step in DOCKERFILE.structure if step["instruction"] != "COMMENT"]
LAST_STAGE = STEPS[max(number for number, (instruction, _) in enumerate(STEPS) if instruction == "FROM") :]


def values(instruction: str, steps: Sequence[tuple[str, str]] = LAST_STAGE) -> list[str]:
    """What the steps with that instruction say."""
    return [value for name, value in steps if name == instruction]
