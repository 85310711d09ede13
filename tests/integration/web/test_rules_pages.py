"""Editing the rules in the browser and through the API, over a real PostgreSQL: check, save, conflict, restore."""

from __future__ import annotations

import re
from threading import Event

import pytest

from monitor.alert.rules.file import read_rules
from monitor.app.backtest import Rehearsed
from monitor.core.errors import WrongSettings
from monitor.store.alert.rules_versions import RulesVersions
from monitor.store.audit.verify import verify
from monitor.web.alert.rules_checks import JOB
from tests.factories.answers import a_batch, an_assessment, at
from tests.rig.store.audit_trail import a_sealer
from tests.rig.store.keys import KEY, QUEUE_KEY

TEXT = """\
rules:
  # what the shop may say
  - name: negative-rate
    signal: {rate: negative}
    above: 0.3
    min_samples: 1
    severity: critical
"""
LENIENT = TEXT.replace("0.3", "0.9")


@pytest.fixture(autouse=True)
def _quick(request, monkeypatch):
    """Rules are tried on what is stored, which takes a second or two, only where a test asks for it by `tried`."""
    if "tried" not in request.fixturenames:
        monkeypatch.setattr("monitor.app.rules.on_history", lambda rule, *_: Rehearsed(rule=rule))


@pytest.fixture
def tried():
    """The back-test is that of the program."""


@pytest.fixture
def admin(site):
    return Admin(*site.signed_in("admin"), site)


class Admin:
    """An admin in front of the pages."""

    def __init__(self, client, csrf, site):
        self.client, self.csrf, self.site = client, csrf, site

    def post(self, path, **data):
        return self.client.post(path, data={"csrf": self.csrf, **data})

    def check(self, text, *, based_on=0, **more):
        """The address of a check whose back-test has ended."""
        answer = self.post("/alerts/rules/check", source=text, based_on=str(based_on), days="1", **more)
        assert answer.status_code == 303, answer.text
        self.site.app.state.jobs.wait(JOB)
        return answer.headers["location"]

    def save(self, text, *, based_on=0, why="too loud at night"):
        checked = self.check(text, based_on=based_on)
        return self.post(
            "/alerts/rules/versions",
            check_id=checked.rpartition("/")[2],
            source=text,
            based_on=str(based_on),
            why=why,
        )


def based_on(page):
    """The version that the text of a form is based on."""
    return int(re.search(r'name="based_on" value="(\d+)"', page)[1])


def texts_of(page):
    return re.sub("<[^>]+>", " ", page)


@pytest.mark.usefixtures("tried")
def test_a_text_is_checked_tried_saved_and_in_force(admin, writer, rows):
    writer.write(
        a_batch(*(an_assessment(id=f"q-{n}", occurred_at=at(-60), verdict="self_generated") for n in range(9)))
    )
    form = admin.client.get("/alerts/rules/edit").text
    assert "Your rule" not in form  # which stands there only after a conflict
    assert "name: refusal-rate" in form or "rules:" in form

    checked = admin.client.get(admin.check(TEXT)).text
    assert "1 rules, no errors" in checked or "1 rule, no errors" in checked
    assert "+  # what the shop may say" in texts_of(checked)
    assert "Save as version 1" in checked
    assert admin.site.application.alerting.rules.source == read_rules(None)

    saved = admin.save(TEXT)
    assert (saved.status_code, saved.headers["location"]) == (303, "/alerts/rules?notice=saved")
    shown = texts_of(admin.client.get("/alerts/rules").text)
    assert "In force:  version 1" in shown
    assert "too loud at night" in shown
    assert admin.site.application.alerting.rules.source == TEXT
    kinds = [kind for (kind,) in rows("SELECT kind FROM audit_queue ORDER BY seq")]
    assert "rules-version" in kinds


def test_a_wrong_text_comes_back_with_its_errors(admin):
    wrong = TEXT.replace("severity: critical", "severity: loud")
    answer = admin.post("/alerts/rules/check", source=wrong, based_on="0")
    assert answer.status_code == 422
    said = texts_of(answer.text)
    assert "line 7, column 15" in said
    assert "severity: loud" in answer.text  # the text is not lost


def test_what_two_people_save_at_once_is_a_conflict_and_nothing_is_lost(admin, site):
    other = Admin(*site.signed_in("admin"), site)
    mine = admin.check(TEXT).rpartition("/")[2]
    assert other.save(LENIENT, why="quieter").status_code == 303
    answer = admin.post("/alerts/rules/versions", check_id=mine, source=TEXT, based_on="0", why="mine")
    assert answer.status_code == 409
    assert "the newest is now version 1" in answer.text
    assert "quieter" in answer.text
    assert "above: 0.3" in answer.text
    assert admin.save(TEXT, based_on=1, why="both").status_code == 303
    assert site.application.alerting.rules_in_force().version == 2


def test_a_rule_alone_is_edited_within_the_text(admin):
    admin.save(TEXT)
    form = admin.client.get("/alerts/rules/edit", params={"rule": "negative-rate"}).text
    piece = re.search(r'<textarea id="source"[^>]*>\n(.*?)</textarea>', form, re.DOTALL)[1]
    assert piece.lstrip().startswith("- name: negative-rate")
    checked = admin.client.get(admin.check(piece.replace("0.3", "0.9"), based_on=1, rule="negative-rate")).text
    assert "-    above: 0.3" in checked
    assert "+    above: 0.9" in checked
    assert admin.client.get("/alerts/rules/edit", params={"rule": "gone"}).status_code == 404


def test_a_rule_whose_lines_stand_in_a_comment_too_is_edited_itself(admin):
    line = "  - {name: behind, signal: lag, above: 300}"
    text = f"rules:\n  #{line}\n  - {{name: one, signal: lag, above: 900}}\n{line}\n"
    admin.save(text)
    edited = line.replace("300", "500")
    checked = admin.client.get(admin.check(edited, based_on=1, rule="behind")).text
    stored = re.search(r'<textarea name="source" hidden>\n(.*?)</textarea>', checked, re.DOTALL)[1]
    assert stored.strip() == f"rules:\n  #{line}\n  - {{name: one, signal: lag, above: 900}}\n{edited}"


def test_a_save_while_the_form_is_made_is_not_undone(admin, site, monkeypatch):
    """What somebody saves right after the text was read is a conflict for that text."""
    load = site.app.state.rules.load

    def load_then_save():
        read = load()
        monkeypatch.setattr(site.app.state.rules, "load", load)
        assert admin.save(TEXT).status_code == 303
        return read

    monkeypatch.setattr(site.app.state.rules, "load", load_then_save)
    form = admin.client.get("/alerts/rules/edit").text
    assert based_on(form) == 0
    assert admin.post("/alerts/rules/check", source=LENIENT, based_on=based_on(form)).status_code == 409


def test_an_error_leaves_the_text_based_on_what_it_was_based_on(admin, site, monkeypatch):
    """Somebody saves while the text is parsed."""
    begin = site.app.state.rules_checks.begin

    def save_then_begin(*args, **options):
        monkeypatch.setattr(site.app.state.rules_checks, "begin", begin)
        assert admin.save(TEXT).status_code == 303
        return begin(*args, **options)

    monkeypatch.setattr(site.app.state.rules_checks, "begin", save_then_begin)
    answer = admin.post("/alerts/rules/check", source="rules: [", based_on="0")
    assert (answer.status_code, based_on(answer.text)) == (422, 0)


def test_a_rule_alone_meets_a_conflict_beside_the_present_text(admin):
    admin.save(TEXT)
    admin.save(LENIENT, based_on=1)
    mine = TEXT.partition("rules:\n")[2].replace("0.3", "0.7")
    answer = admin.post("/alerts/rules/check", source=mine, based_on="1", rule="negative-rate")
    assert (answer.status_code, based_on(answer.text)) == (409, 2)
    box = re.search(r'<textarea id="source"[^>]*>\n(.*?)</textarea>', answer.text, re.DOTALL)[1]
    assert box.strip() == LENIENT.strip()
    assert "above: 0.7" in re.search(r"<pre>(.*?)</pre>", answer.text, re.DOTALL)[1]


def test_a_failed_check_says_so_while_another_one_runs(admin, site, monkeypatch):
    monkeypatch.setattr("monitor.web.alert.rules_checks.try_rules", broken)
    failed = admin.check(TEXT)
    running, release = Event(), Event()

    def waits(*_args, **_options):
        running.set()
        release.wait()
        return []

    monkeypatch.setattr("monitor.web.alert.rules_checks.try_rules", waits)
    try:
        assert admin.post("/alerts/rules/check", source=LENIENT, based_on="0").status_code == 303
        running.wait()
        assert "The back-test failed" in admin.client.get(failed).text
        id_ = failed.rpartition("/")[2]
        assert site.by_token("admin").get(f"/api/v1/rules/checks/{id_}").json()["state"] == "failed"
    finally:
        release.set()


def broken(*_args, **_options):
    raise WrongSettings("this machine has no time zones")


def test_an_earlier_version_is_compared_and_restored(admin, monkeypatch):
    admin.save(TEXT)
    admin.save(LENIENT, based_on=1)
    monkeypatch.setattr(RulesVersions, "list", None)  # the texts of all versions are not read for their numbers
    compared = admin.client.get("/alerts/rules/versions/2").text
    monkeypatch.undo()
    assert '<option value="1" selected>' in compared
    assert "-    above: 0.3" in compared
    assert "+    above: 0.9" in compared
    form = admin.client.get("/alerts/rules/edit", params={"version": 1}).text
    assert "above: 0.3" in form
    assert admin.save(TEXT, based_on=2, why="back to version 1").status_code == 303
    assert admin.site.application.alerting.rules.source == TEXT
    assert admin.client.get("/alerts/rules/versions/9").status_code == 404
    text = admin.client.get("/alerts/rules/versions/1/rules.yaml")
    assert (text.text, text.headers["content-type"]) == (TEXT, "application/yaml")


def test_only_a_checked_text_with_a_reason_is_saved(admin):
    unknown = admin.post("/alerts/rules/versions", check_id="0" * 32, source=TEXT, based_on="0", why="x")
    assert unknown.status_code == 409
    assert "check it again" in unknown.text
    assert "above: 0.3" in unknown.text
    assert admin.save(TEXT, why=" ").status_code == 422
    assert admin.save(TEXT).status_code == 303
    assert "already" in admin.save(TEXT, based_on=1).text


@pytest.mark.parametrize("role", ["viewer", "operator", "auditor"])
def test_others_read_and_do_not_edit(site, role):
    client, csrf = site.signed_in(role)
    page = client.get("/alerts/rules")
    assert page.status_code == 200
    assert "Edit all rules" not in page.text
    assert client.get("/alerts/rules/edit").status_code == 403
    for path in ("/alerts/rules/check", "/alerts/rules/versions"):
        assert client.post(path, data={"csrf": csrf, "source": TEXT, "based_on": "0"}).status_code == 403
    token = site.by_token(role)
    assert token.post("/api/v1/rules/checks", json={"source": TEXT, "based_on": 0}).status_code == 403


def test_a_form_without_its_token_is_refused(admin):
    answer = admin.client.post("/alerts/rules/check", data={"source": TEXT, "based_on": "0"})
    assert answer.status_code == 403


def test_while_a_file_is_in_force_nothing_is_saved(make_site, tmp_path):
    file = tmp_path / "rules.yaml"
    file.write_text(TEXT, encoding="utf-8")
    site = make_site(guard={"only_tokens": True}, RULES=str(file))
    admin = Admin(*site.signed_in("admin"), site)
    assert "edit them there" in admin.client.get("/alerts/rules").text
    checked = admin.check(LENIENT)
    assert "Download the checked text" in admin.client.get(checked).text
    assert admin.client.get(f"{checked}/rules.yaml").text == LENIENT
    answer = admin.post(
        "/alerts/rules/versions", check_id=checked.rpartition("/")[2], source=LENIENT, based_on="0", why="x"
    )
    assert answer.status_code == 409
    assert site.application.alerting.rules_versions.newest() is None


def test_the_api_does_the_same(site):
    client = site.by_token("admin")
    now = client.get("/api/v1/rules").json()
    assert (now["version"], now["newest"]) == (0, 0)
    wrong = client.post("/api/v1/rules/checks", json={"source": "rules: [", "based_on": 0, "days": 7})
    assert wrong.status_code == 422
    assert "rules:2:1" in wrong.text
    begun = client.post("/api/v1/rules/checks", json={"source": TEXT, "based_on": 0, "days": 7}).json()
    site.app.state.jobs.wait(JOB)
    its = client.get(f"/api/v1/rules/checks/{begun['check']}").json()
    assert its["state"] == "done"
    assert its["rules"][0]["name"] == "negative-rate"
    blank = client.post("/api/v1/rules/versions", json={"check": begun["check"], "why": " "})
    assert (blank.status_code, "say why" in blank.text) == (422, True)
    saved = client.post("/api/v1/rules/versions", json={"check": begun["check"], "why": "a reason"})
    assert (saved.status_code, saved.json()["version"]) == (201, 1)
    again = client.post("/api/v1/rules/versions", json={"check": begun["check"], "why": "a reason"})
    assert again.status_code == 409
    assert client.get("/api/v1/rules/versions", params={"limit": 21}).status_code == 422
    listed = client.get("/api/v1/rules/versions", params={"limit": 20}).json()["items"]
    assert [(each["version"], each["why"], each["authentic"]) for each in listed] == [(1, "a reason", True)]
    assert client.get("/api/v1/rules/versions/1").json()["source"] == TEXT


def test_a_version_that_the_database_alone_changed_is_not_used_and_named(admin, engine):
    admin.save(TEXT)
    admin.save(LENIENT, based_on=1)
    a_sealer(engine).seal_and_sign(at(5))
    with engine.begin() as connection:
        connection.exec_driver_sql("UPDATE rules_version SET source = replace(source, '0.9', '0.99') WHERE version = 2")
    found = admin.site.application.alerting.rules_in_force()
    assert (found.version, found.rules.source) == (1, TEXT)
    assert "not as saved" in admin.client.get("/alerts/rules").text
    (finding,) = verify(engine, [KEY], QUEUE_KEY).findings
    assert "rules" in finding.sentence
