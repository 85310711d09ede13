"""The machine's Java, and the jars of Apache Kafka that it runs.

`kafka-pom.xml` beside this file pins the release.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from platformdirs import user_cache_path

from monitor.core.errors import OutOfReach, WrongSettings

JAVA = 17  # the oldest that Kafka 4 runs on
ADVICE = (
    "on Debian and Ubuntu: apt-get install default-jre-headless maven; "
    "or set MONITOR_KAFKA__BOOTSTRAP_SERVERS to a broker of your own"
)

_POM = Path(__file__).with_name("kafka-pom.xml")


def kafka_jars(cache: Path | None = None) -> Path:
    """The folder of Kafka's jars, below `cache` (by default the user's); Maven fetches 45 MB the first time.

    Raises:
        WrongSettings: Java or Maven is missing, Java is too old, or `cache` cannot be written to.
        OutOfReach: Maven cannot fetch them.
    """
    pom = _POM.read_bytes()
    cache = cache or user_cache_path("rag-monitor")
    jars = cache / f"kafka-{hashlib.sha256(pom).hexdigest()[:12]}"
    if jars.is_dir():
        return jars
    java_program()
    maven = shutil.which("mvn")
    if maven is None:
        raise WrongSettings(f"Kafka's jars are fetched with Maven, and `mvn` is missing; {ADVICE}")
    try:
        cache.mkdir(parents=True, exist_ok=True)
        # One at a time: what two Mavens fetch at once, each takes away from the other, and both fail.
        with jars.with_name(f"{jars.name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # released when the file is closed
            if not jars.is_dir():
                _fetch(maven, jars)
    except OSError as error:
        raise WrongSettings(
            f"Kafka's jars cannot be kept in {cache}: {error.strerror}; let XDG_CACHE_HOME name another folder"
        ) from None
    return jars


def _fetch(maven: str, jars: Path) -> None:
    """Has Maven fill the folder; an interrupted run leaves another one, which nobody reads."""
    with tempfile.TemporaryDirectory(prefix=f"{jars.name}-", dir=jars.parent) as folder:
        fetched = Path(folder) / "jars"
        goal = "dependency:copy-dependencies"
        ended = run(maven, "-q", "-B", "-f", _POM, "-Dstyle.color=never", goal, f"-DoutputDirectory={fetched}")
        if ended.returncode:
            raise OutOfReach(f"Maven cannot fetch Kafka's jars; {ADVICE}\n{last_lines(ended.stdout)}")
        fetched.rename(jars)


def class_archive(jars: Path) -> Path:
    """Where a node finds Kafka's classes as this machine's Java keeps them in memory; it then starts in half the time.

    They are no more than that: Java goes on without a file that is missing, damaged or another Java's.

    Raises:
        WrongSettings: Java is missing or too old.
    """
    version = run(java_program(), "-version").stdout
    return jars.with_name(f"{jars.name}-classes-{hashlib.sha256(version.encode()).hexdigest()[:12]}.jsa")


def java_program() -> str:
    """The path of the machine's Java.

    Raises:
        WrongSettings: it is missing, too old, or does not run.
    """
    home = os.environ.get("JAVA_HOME")
    name = f"{home}/bin/java" if home else "java"
    if (java := shutil.which(name)) is None:
        raise WrongSettings(f"Kafka runs on Java {JAVA} or later, and `{name}` is missing; {ADVICE}")
    java = str(Path(java).absolute())  # programs are started in other folders
    asked = run(java, "-version")
    if asked.returncode:  # as on a Mac without Java, where the program only says so
        raise WrongSettings(f"Kafka needs Java, and `{name}` does not run; {ADVICE}\n{last_lines(asked.stdout)}")
    version = re.search(r'version "(?:1\.)?(\d+)', asked.stdout)
    if version and int(version[1]) < JAVA:
        raise WrongSettings(f"Kafka runs on Java {JAVA} or later, and `{name}` is version {version[1]}; {ADVICE}")
    return java


def java_environment() -> dict[str, str]:
    """The environment for programs that are Java: it reads paths as UTF-8 only where the locale says so."""
    return {**os.environ, "LC_ALL": "C.UTF-8"}


def run(program: str, *arguments: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Runs a program to its end, with stdout and stderr in `stdout`."""
    return subprocess.run(  # noqa: S603  every caller names its program
        [program, *map(str, arguments)],
        cwd=cwd,
        env=java_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        check=False,
    )


def last_lines(log: str) -> str:
    return "\n".join(log.strip().splitlines()[-15:])
