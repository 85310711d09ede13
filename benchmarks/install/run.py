"""Installs the wheel into a clean environment and measures what is there: packages and bytes, largest first.

    python benchmarks/install/run.py [--short] [--json PATH]

The wheel is built from the repository and installed by pip, with what it needs from the index. What the environment
itself has (pip) does not count, nor does compiled bytecode; a MB is a million bytes. Goal: at most 300 MB and 65
packages, with the embedded database and the model.

--short installs nothing, and measures the packages of the running environment that `rag-monitor` needs.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.figures import finish, options
from benchmarks.install.footprint import GOAL_MB, GOAL_PACKAGES, ROOT, Package, footprint

MB = 1_000_000
SHOWN = 25


def installed(folder: Path) -> list[Package]:
    pip = ["-m", "pip", "--quiet", "--disable-pip-version-check"]
    build = [*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", folder, ROOT]
    subprocess.run([sys.executable, *build], check=True)
    (wheel,) = folder.glob("rag_monitor-*.whl")
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    subprocess.run([folder / "venv" / "bin" / "python", *pip, "install", "--no-compile", wheel], check=True)
    (site_packages,) = (folder / "venv" / "lib").glob("python*/site-packages")
    return footprint(site_packages)


def main() -> None:
    asked = options(__doc__, "measures the running environment instead of a clean one")
    if asked.short:
        packages = footprint()
    else:
        with tempfile.TemporaryDirectory(prefix="monitor-install-") as name:
            packages = installed(Path(name))
    total = sum(package.bytes for package in packages) / MB
    for package in packages[:SHOWN]:
        print(f"{package.bytes / MB:7.1f} MB  {package.name} {package.version}")
    rest = packages[SHOWN:]
    print(f"{sum(package.bytes for package in rest) / MB:7.1f} MB  {len(rest)} others")
    print(f"{total:7.1f} MB  in {len(packages)} packages; goal: {GOAL_MB} MB in {GOAL_PACKAGES}")
    reached = total <= GOAL_MB and len(packages) <= GOAL_PACKAGES
    print("the goal is reached" if reached else "the goal is not reached")
    figures = {
        "megabytes": round(total, 1),
        "packages": {package.name: {"version": package.version, "bytes": package.bytes} for package in packages},
        "goal": {"megabytes": GOAL_MB, "packages": GOAL_PACKAGES, "reached": reached},
    }
    finish(figures, seed=None, path=asked.json)


if __name__ == "__main__":
    main()
