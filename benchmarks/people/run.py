"""Three people at work: what `incidents.py` and `quality.py` measure, in one object.

    python benchmarks/people/run.py [--json PATH] [--short]

On call: from the break to a page with the right cause, causes named right and in quiet weeks, and the share of examples
that are of the incident. Quality owner: whether drift, outage and wrong refusals stand in the first screen of the
report, findings in quiet months, and whether page, API, report and SQL tell the same numbers.
"""

from __future__ import annotations

from benchmarks.figures import finish, options
from benchmarks.people import incidents, quality


def main() -> None:
    given = options(__doc__, "both in their short form")
    of_incidents, seed = incidents.measured(short=given.short)
    of_weeks = quality.measured(short=given.short)
    for name, value in of_weeks.items():
        print(f"{name:28} {value}")
    finish({"incidents": of_incidents, "four_weeks": of_weeks}, seed=seed, path=given.json)


if __name__ == "__main__":
    main()
