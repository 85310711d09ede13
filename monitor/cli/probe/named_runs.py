"""Finds runs by what people type: numbers, versions of the chatbot, names of probes and apps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from monitor.core.errors import WrongSettings
from monitor.core.text.plain import readable

if TYPE_CHECKING:
    from monitor.probe.result import ProbeRun
    from monitor.store.probe.runs import ProbeRuns

_LOOKED_AT: Final = 200  # newest runs of a version


def none_stored(runs: ProbeRuns, *, probe: str | None, app: str | None) -> str:
    """The sentence that no run of the probe, or about the app, is stored; it names those of which runs are."""
    known = runs.probes()
    if not known:
        return "no probe has run yet: monitor probe run NAME"
    of = "" if probe is None else f" of the probe {readable(probe)!r}"
    about = "" if app is None else f" about the app {readable(app)!r}"
    stored = ", ".join(f"{readable(name)} about {readable(asked)}" for name, asked in known)
    return f"no run{of}{about} is stored; there are runs of {stored}"


def compared_runs(runs: ProbeRuns, before: str, after: str, *, probe: str | None) -> tuple[ProbeRun, ProbeRun]:
    """The runs of these numbers, of whatever probes, or the newest ones of these versions that are of the same probe.

    Raises:
        WrongSettings: there are none.
    """
    first, second = (_named(runs, name, probe) for name in (before, after))
    for later in second:
        for earlier in first:
            same = all(getattr(earlier, name) == getattr(later, name) for name in ("probe", "app", "environment"))
            if same or (str(earlier.number), str(later.number)) == (before, after):
                return earlier, later
    raise WrongSettings(
        f"{readable(before)} and {readable(after)} have no runs of the same probe: name two runs of monitor probe list"
    )


def _named(runs: ProbeRuns, name: str, probe: str | None) -> list[ProbeRun]:
    """The run of this number, or the newest ones of this version of the chatbot, those that are done first."""
    from monitor.probe.result import RunState

    if name.isascii() and name.isdigit() and len(name) < len(str(2**63)) and (found := runs.run(int(name))):
        return [found]
    newest = runs.runs(chatbot=name, probe=probe, most=_LOOKED_AT)
    if not newest:
        if probe is not None and not runs.runs(probe=probe, most=1):
            raise WrongSettings(f"--probe: {none_stored(runs, probe=probe, app=None)}")
        of = "" if probe is None else f" of the probe {readable(probe)!r}"
        raise WrongSettings(f"there is no run or version {readable(name)}{of}: monitor probe list")
    return sorted(newest, key=lambda one: one.state is not RunState.DONE)
