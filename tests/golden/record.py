"""Records the verdicts of this release on the golden interactions. Run it after a change that should change verdicts.

    .venv/bin/python -m tests.golden.record

It writes `verdicts.json` and prints the interactions whose verdict differs from the reader's. BLIND_SPOTS in
`test_verdicts.py` must name exactly these, each with an explanation.
"""

from __future__ import annotations

import json
import sys

from monitor.core.settings.load import load_settings
from tests.golden.test_verdicts import BLIND_SPOTS
from tests.rig.assess.golden import RECORD, ROWS, contradicted, golden_interactions, golden_pipeline, recorded


def main() -> None:
    pipeline = golden_pipeline(load_settings().state_dir / "cache")
    found = {a.interaction.id: a for a in pipeline.assess(golden_interactions())}
    lines = [f"  {json.dumps(id_)}: {json.dumps(recorded(a))}" for id_, a in found.items()]
    RECORD.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    wrong = contradicted(found)
    out = [
        f"profile {pipeline.profile.name} {pipeline.profile.hash}: {len(ROWS) - len(wrong)} of {len(ROWS)} as a reader"
    ]
    for row in ROWS:
        if (id_ := row["id"]) in wrong | set(BLIND_SPOTS):
            state = "gone from the list" if id_ not in wrong else "known" if id_ in BLIND_SPOTS else "NEW"
            said = f"{found[id_].verdict.value}, a reader: {row['expect']['verdict']}"
            out.append(f"{id_} {state}: {said}\n    {row['expect']['note']}")
    sys.stdout.write("\n".join(out) + "\n")


if __name__ == "__main__":
    main()
