from __future__ import annotations

from threading import Event

from monitor.core.errors import OutOfReach
from monitor.web.base.jobs import Jobs
from tests.factories.answers import NOON, clock


def test_one_job_of_a_name_runs_at_a_time_and_reports_progress():
    jobs, go, reported = Jobs(clock), Event(), Event()

    def work(report, _):
        report("half of it")
        reported.set()
        go.wait()
        return "all of it"

    assert jobs.latest("verify") is None
    assert jobs.start("verify", work, by="ada")
    reported.wait()
    assert not jobs.start("verify", work, by="grace")
    assert jobs.start("other", lambda *_: "done", by="grace")
    running = jobs.latest("verify")
    assert (running.by, running.status, running.running, running.began_at) == ("ada", "half of it", True, NOON)
    go.set()
    jobs.wait("verify")
    done = jobs.latest("verify")
    assert (done.status, done.running, done.failed, done.ended_at) == ("all of it", False, False, NOON)


def test_a_failed_job_says_why_and_may_be_started_again():
    jobs = Jobs(clock)

    def named(*_):
        raise OutOfReach("the database is away\nand more")

    def unnamed(*_):
        raise ZeroDivisionError("secret")

    for work, said in ((named, "the database is away"), (unnamed, "this is a defect")):
        assert jobs.start("x", work, by="ada")
        jobs.wait("x")
        assert jobs.latest("x").failed
        assert jobs.latest("x").status.startswith(said)
        assert "secret" not in jobs.latest("x").status


def test_all_jobs_are_asked_to_stop():
    jobs = Jobs(clock)
    jobs.start("x", lambda _, stop: f"stopped: {stop.wait()}", by="ada")
    jobs.stop()
    assert jobs.latest("x").status == "stopped: True"
