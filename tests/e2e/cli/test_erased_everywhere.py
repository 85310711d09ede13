"""What a person said is gone after an erasure, wherever the program had put it: a secret is planted in every field."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import zlib
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from monitor.app.review.label_file import _Line
from monitor.ingest.dialects.native import _NativeEvent
from tests.rig.installation import REFUSAL, RULES
from tests.rig.waiting import until
from tests.servers.slack import CHANNEL, TOKEN, shown, slack_server

APP = "support-bot"
# Fields that an erasure leaves, which docs/audit/privacy.md names: nobody's name belongs into them.
KEPT = {"id", "app", "environment", "model", "prompt_version"}
LABEL_KEPT = {"app", "id", "label", "by"}


def secret(*path):
    """A word that occurs nowhere else: letters alone, so that it stays one word wherever texts are cut into words."""
    return f"Zq{''.join(filter(str.isalpha, ''.join(path)))}Qz"


def planted(schema, definitions, *path):
    """A value of the schema with a secret in every text, and in every name that the chatbot chooses."""
    schema = definitions[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
    options = [option for option in schema.get("anyOf", schema.get("oneOf", [])) if option.get("type") != "null"]
    kind, value = schema.get("type"), None
    if options:
        chosen = next((option for option in options if "$ref" in option or "properties" in option), options[0])
        value = planted(chosen, definitions, *path)
    elif kind == "string":
        value = secret(*path)
    elif kind == "array":
        value = [planted(schema["items"], definitions, *path)]
    elif kind == "object" and "properties" in schema:
        value = {name: planted(of, definitions, *path, name) for name, of in schema["properties"].items()}
    elif kind == "object":
        value = {secret(*path, "name"): secret(*path, "value")}
    elif kind in {"integer", "number"}:
        value = 0
    return value


SCHEMA = _NativeEvent.model_json_schema()
EVENT = {
    name: planted(of, SCHEMA.get("$defs", {}), name) for name, of in SCHEMA["properties"].items() if name not in KEPT
}
NOTE = {name: secret("label", name) for name in _Line.model_fields if name not in LABEL_KEPT}


def secrets(value):
    if isinstance(value, dict):
        return {found for name, item in value.items() for found in (*secrets(name), *secrets(item))}
    if isinstance(value, list):
        return {found for item in value for found in secrets(item)}
    return {value} if isinstance(value, str) and value.startswith("Zq") else set()


def forms(word):
    """A secret as it may be found: in any case, in base64, hashed without a key."""
    yield word.lower()
    for offset in range(3):  # its letters may begin anywhere in a group of three bytes
        coded = base64.b64encode(b"\0" * offset + word.encode() + b"\0\0").decode()
        yield coded[4 : 4 + len(word)].lower()
    yield hashlib.sha256(word.encode()).hexdigest()[:16]


def told(number, **over):
    at = datetime.now(UTC) - timedelta(minutes=1)
    fixed = {"id": f"secret-{number}", "app": APP, "model": "m-1", "environment": "production", "prompt_version": "v1"}
    texts = {
        "question": f"{EVENT['question']} how long are snapshots kept, {number}?",
        "answer": f"{REFUSAL} {EVENT['answer']}",
        "occurred_at": at.isoformat(),
    }
    return json.dumps({**EVENT, **fixed, **texts, **over}) + "\n"


def unpacked(content):
    yield content
    for unpack in (gzip.decompress, zlib.decompress):
        try:
            yield unpack(content)
        except (OSError, EOFError, zlib.error):
            continue


def cells(database):
    """Every column of every table as text, with its place."""
    with psycopg.connect(database) as connection:
        columns = connection.execute(
            "SELECT table_name, column_name, data_type FROM information_schema.columns JOIN information_schema.tables"
            " USING (table_schema, table_name) WHERE table_schema = 'public' AND table_type = 'BASE TABLE'"
        ).fetchall()
        for table, column, kind in columns:
            cast = sql.SQL("") if kind == "bytea" else sql.SQL("::text")
            query = sql.SQL("SELECT {}{} FROM {} WHERE {} IS NOT NULL").format(
                sql.Identifier(column), cast, sql.Identifier(table), sql.Identifier(column)
            )
            for (value,) in connection.execute(query):
                content = value.encode() if isinstance(value, str) else bytes(value)
                yield f"{table}.{column}", content


def files(*folders):
    for folder in folders:
        for path in Path(folder).rglob("*"):
            if path.is_file():
                yield str(path), path.read_bytes()


def places(contents, words):
    """Where each of the words is found."""
    found = {}
    needles = [(word, form) for word in words for form in forms(word)]
    for place, content in contents:
        for plain in unpacked(content):
            text = plain.decode("utf-8", "replace").lower()
            for word, form in needles:
                if form in text:
                    found.setdefault(word, set()).add(place)
    return found


@pytest.fixture
def slack():
    with slack_server() as server:
        yield server


def beside(database):
    """What a language model and a retry would have stored beside an interaction."""
    words = {name: secret("judgement", name) for name in ("reason", "parts", "support", "earlier", "error")}
    with psycopg.connect(database) as connection:
        connection.execute(
            "INSERT INTO judgement (app, id, metric, model, prompt_hash, occurred_at, mode, score, reason, parts,"
            " calls, input_tokens, output_tokens, judged_at)"
            " SELECT app, id, 'faithfulness', 'm', 'p', occurred_at, 'separate', 0.5, %s, %s, 1, 1, 1, now()"
            " FROM interaction WHERE id = 'secret-1'",
            (words["reason"], json.dumps({words["parts"]: [words["parts"]]})),
        )
        connection.execute(
            "UPDATE assessment SET earlier = %s, support = support || %s WHERE id = 'secret-1'",
            (json.dumps({"support": words["earlier"]}), json.dumps({"sidecar": {"second_answer": words["support"]}})),
        )
        connection.execute(
            "INSERT INTO pending (kind, app, interaction_id, occurred_at, group_id, queued_at, not_before, last_error)"
            " SELECT 'judge', app, id, occurred_at, 'monitor', now(), now() + interval '1 day', %s FROM interaction"
            " WHERE id = 'secret-1'",
            (words["error"],),
        )
    return set(words.values())


def test_no_secret_of_any_field_is_left_anywhere(monitor, database, log, slack, tmp_path, rows, event):
    words = secrets(EVENT) | set(NOTE.values())
    rules = tmp_path / "rules.yaml"
    rules.write_text(RULES)
    monitor.settings |= {"RULES": str(rules), "EVALUATION_INTERVAL": "0.3", "EMBEDDING__PROVIDER": "hash"}
    monitor.settings |= {"SLACK__BOT_TOKEN": TOKEN, "SLACK__CHANNEL": CHANNEL, "SLACK__API_URL": slack.url}
    good = [event(f"good-{n}", question=f"Where is invoice {n}?", tags={"user": "joe"}) for n in range(12)]
    log.write_text("".join([*good, *(told(n) for n in range(20)), told("dead", answer=None)]))
    running = monitor.start("run", log)
    until("somebody is called", slack.roots)
    until("the message is delivered", lambda: rows("SELECT 1 FROM notification WHERE delivered_at IS NOT NULL"))
    assert running.terminate() == 0
    before = (datetime.now(UTC) - timedelta(days=7)).isoformat()
    made_up = f"{EVENT['answer']} It has 47 wheels and was built of cheese in Oslo."
    history = "".join(told(f"old-{n}", occurred_at=before, answer=made_up) for n in range(5))
    assert monitor.run("replay", "-", stdin=history.encode()).returncode == 0
    assert monitor.run("report", "weekly", "--app", APP, "--again", "--output", tmp_path / "report.md").returncode == 0
    label = ("review", "label", f"{APP}/secret-1", "refusal", "--by", "ann", *sum(_options(NOTE), ()))
    labelled = monitor.run(*label)
    assert labelled.returncode == 0, labelled.stderr
    words |= beside(database)

    stored = places(cells(database), words)
    assert words == stored.keys()  # also those of a field that is new: it is stored, or this says so
    tables = {place.partition(".")[0] for found in stored.values() for place in found}
    assert {"alert_explanation", "notification", "report", "dead_letter", "review", "judgement", "pending"} <= tables
    assert EVENT["question"] in shown(slack.roots()[0].payload)

    ended = monitor.run("erase", "--app", APP, "--conversation", EVENT["conversation_id"], "--dead-letters", "--yes")
    assert "25 interactions erased" in ended.stdout, ended.stderr
    assert "deleted 1 dead letter" in ended.stdout
    running = monitor.start("run", log)  # a round of alerting after it brings nothing back
    evaluated = rows("SELECT max(evaluated_at) FROM rule_state")
    until("a round went by", lambda: rows("SELECT max(evaluated_at) FROM rule_state") != evaluated)
    assert running.terminate() == 0
    assert monitor.run("audit", "seal").returncode == 0
    assert places(cells(database), words) == {}
    log.unlink()  # the chatbot's own, as is the report that was written for a person
    (tmp_path / "report.md").unlink()
    assert places(files(tmp_path), words) == {}


def _options(note):
    return [(f"--{name}", word) for name, word in note.items()]
