"""Runs the steps of docker/Dockerfile on this machine, where there is no Docker, and a command in what they make.

    sudo python tools/image.py --python /usr/local/bin FOLDER -- monitor --version

Each stage is a layer over this machine's own root, in FOLDER: nothing of the machine is changed. This machine with the
`python` of that folder stands in for the base image. The command runs as the image's user, with its environment, its
root read-only, and only the volume and a new /tmp to write to. Prints the size of what the image adds to its base.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from dockerfile_parse import DockerfileParser

ROOT = Path(__file__).parents[1]
KNOWN = {
    "ARG", "CMD", "COMMENT", "COPY", "ENTRYPOINT", "ENV", "EXPOSE", "FROM", "HEALTHCHECK", "LABEL", "RUN", "STOPSIGNAL",
    "USER", "VOLUME", "WORKDIR",
}  # fmt: skip


@dataclass
class Stage:
    """One stage, as far as its steps have run."""

    upper: Path
    environment: dict[str, str] = field(default_factory=dict)
    workdir: str = "/"
    user: str = "0:0"
    volumes: list[str] = field(default_factory=list)


def steps() -> list[tuple[str, str]]:
    """The instructions of docker/Dockerfile with their values, in order."""
    parser = DockerfileParser(path=str(ROOT / "docker/Dockerfile"))
    found = [(step["instruction"], step["value"]) for step in parser.structure]
    if unknown := {instruction for instruction, _ in found} - KNOWN:
        raise SystemExit(f"docker/Dockerfile: tools/image.py does not know {', '.join(sorted(unknown))}")
    return found


def run(stage: Stage, command: list[str], *, sealed: bool = False) -> int:
    """Runs `command` over the layer; with `sealed` as the image's user, with nothing to write to but its volumes."""
    upper = stage.upper
    merged, work = upper.parent / f"{upper.name}.merged", upper.parent / f"{upper.name}.work"
    for folder in (upper, merged, work):
        folder.mkdir(parents=True, exist_ok=True)
    layer = f"lowerdir=/,upperdir={upper},workdir={work}"
    enter = [f"mount -t overlay overlay -o {shlex.quote(layer)} {merged}", f"mount --rbind /proc {merged}/proc"]
    enter.append(f"mount --rbind /dev {merged}/dev")
    if sealed:
        enter.append(f"mount -o remount,ro {merged}")
        enter.append(f"mount -t tmpfs tmpfs {merged}/tmp")  # noqa: S108  a new one, inside
        for volume in stage.volumes:
            kept = upper.parent / "volumes" / volume.strip("/").replace("/", "-")
            if not kept.exists():
                shutil.copytree(upper / volume.strip("/"), kept)
                owner = (upper / volume.strip("/")).stat()
                os.chown(kept, owner.st_uid, owner.st_gid)
            enter.append(f"mount --bind {kept} {merged}{volume}")
    # The interpreter may lie in a closed home: the user may read everything, and write nothing that is not its own.
    uid, _, gid = stage.user.partition(":")
    drop = ["setpriv", f"--reuid={uid}", f"--regid={gid or uid}", "--clear-groups", "--no-new-privs"]
    drop += ["--inh-caps=-all,+dac_read_search", "--ambient-caps=-all,+dac_read_search"]
    drop += ["--bounding-set=-all,+dac_read_search"]
    inside = shlex.join([*(drop if sealed else []), *command])
    enter.append(f"exec chroot {merged} sh -c {shlex.quote(f'cd {stage.workdir} && exec {inside}')}")
    kept = {name: os.environ[name] for name in ("PATH", "PIP_CONFIG_FILE", "PIP_INDEX_URL") if name in os.environ}
    environment = kept | stage.environment
    script = "set -e\n" + "\n".join(enter)
    return subprocess.run(["unshare", "--mount", "sh", "-c", script], env=environment, check=False).returncode


def copied(stage: Stage, value: str, stages: dict[str, Stage]) -> None:
    """COPY: from the repository, or from another stage."""
    words = value.split()
    source = ROOT
    if words[0].startswith("--from="):
        source = stages[words.pop(0).removeprefix("--from=")].upper
    *names, to = words
    target = stage.upper / (Path(stage.workdir) / to).as_posix().strip("/")
    for name in names:
        origin = source / name.strip("/")
        if origin.is_dir():
            ignored = shutil.ignore_patterns("__pycache__") if source == ROOT else None
            shutil.copytree(origin, target, symlinks=True, dirs_exist_ok=True, ignore=ignored)
        else:
            target.mkdir(parents=True, exist_ok=True)
            shutil.copy2(origin, target)


def built(folder: Path, python: str) -> Stage:  # noqa: C901  one case for each instruction
    """Runs all steps; returns the last stage."""
    stages: dict[str, Stage] = {}
    stage = Stage(folder)
    for instruction, value in steps():
        match instruction:
            case "FROM":
                name = value.split(" AS ")[1] if " AS " in value else "image"
                stage = stages[name] = Stage(folder / name, {"PATH": f"{python}:/usr/sbin:/usr/bin:/sbin:/bin"})
            case "ENV":
                for pair in shlex.split(value):
                    name, _, given = pair.partition("=")
                    stage.environment[name] = given.replace("$PATH", stage.environment["PATH"])
            case "WORKDIR":
                stage.workdir = value
                (stage.upper / value.strip("/")).mkdir(parents=True, exist_ok=True)
            case "USER":
                stage.user = value
            case "VOLUME":
                stage.volumes.append(value)
            case "COPY":
                copied(stage, value, stages)
            case "RUN":
                print(f"RUN {value}", flush=True)
                if code := run(stage, ["sh", "-c", value]):
                    raise SystemExit(code)
    return stage


def main() -> None:
    asks = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asks.add_argument("folder", type=Path, help="an empty folder, or one in which the steps have run")
    asks.add_argument("command", nargs="*", help="what to run in the image; default: nothing")
    asks.add_argument("--python", type=Path, required=True, help="folder of a `python`, such as /usr/local/bin")
    asks.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="environment of the command")
    given = asks.parse_args()
    folder: Path = given.folder.resolve()
    kept = folder / "image.json"
    if not kept.exists():
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o755)
        made = built(folder, str(given.python))
        facts = {"environment": made.environment, "workdir": made.workdir, "user": made.user, "volumes": made.volumes}
        kept.write_text(json.dumps(facts), encoding="utf-8")
    stage = Stage(folder / "image", **json.loads(kept.read_text(encoding="utf-8")))
    size = sum(path.lstat().st_size for path in stage.upper.rglob("*") if not path.is_dir())
    print(f"the image adds {size / 1e6:.0f} MB to its base", flush=True)
    stage.environment |= dict(pair.split("=", 1) for pair in given.set)
    if given.command:
        sys.exit(run(stage, given.command, sealed=True))


if __name__ == "__main__":
    main()
